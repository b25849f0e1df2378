package ua32

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

var errReassigned = errors.New("feed was given to another worker")

// Assignment is what the coordinator answers.
type Assignment struct {
	Feed     string    `json:"feed"`
	Worker   string    `json:"worker"`
	LeaseEnd time.Time `json:"lease_end"`
}

func (a Assignment) Overdue(now time.Time) bool {
	return now.After(a.LeaseEnd) // want:T
}

type coordinator struct {
	hc   *http.Client
	base string
}

func (c *coordinator) assignment(ctx context.Context, feed string) (a Assignment, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/v1/feeds/"+url.PathEscape(feed), nil)
	if err != nil {
		return a, err
	}
	resp, err := c.hc.Do(req)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return a, fmt.Errorf("coordinator: %s", resp.Status)
	}
	return a, json.NewDecoder(resp.Body).Decode(&a)
}
