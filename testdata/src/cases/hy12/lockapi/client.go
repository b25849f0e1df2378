// Package lockapi talks to the lock service.
package lockapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

type Lease struct {
	ID        string    `json:"lease_id"`
	Resource  string    `json:"resource"`
	Owner     string    `json:"owner"`
	ExpiresAt time.Time `json:"expires_at"` // set by the service
}

type Client struct {
	base string
	hc   *http.Client
}

func (c *Client) Acquire(ctx context.Context, resource, owner string) (*Lease, error) {
	body, err := json.Marshal(map[string]string{"resource": resource, "owner": owner})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/v1/leases", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	resp, err := c.hc.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusCreated {
		return nil, fmt.Errorf("acquire %s: %s", resource, resp.Status)
	}
	l := new(Lease)
	return l, json.NewDecoder(resp.Body).Decode(l)
}
