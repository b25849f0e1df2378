// Package ua18 drives long restores whose state lives in a bucket.
package ua18

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

var ErrForeignRun = errors.New("run was handed to another runner")

type runRecord struct {
	Runner string   `json:"runner"`
	Phase  string   `json:"phase"`
	Done   []string `json:"done"`
}

type Coordinator struct {
	cl     *s3.Client
	bucket string
	self   string
}

func NewCoordinator(cl *s3.Client, bucket string) (*Coordinator, error) {
	h, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	return &Coordinator{cl: cl, bucket: bucket, self: fmt.Sprintf("%s:%d", h, os.Getpid())}, nil
}

func key(run string) *string { return aws.String("runs/" + run + "/run.json") }

// Begin creates the record of a new run.
func (c *Coordinator) Begin(ctx context.Context, run string) error {
	raw, err := json.Marshal(runRecord{Runner: c.self, Phase: "fetch"})
	if err != nil {
		return err
	}
	_, err = c.cl.PutObject(ctx, &s3.PutObjectInput{
		Bucket: aws.String(c.bucket), Key: key(run), Body: bytes.NewReader(raw), IfNoneMatch: aws.String("*"),
	})
	return err
}

func (c *Coordinator) load(ctx context.Context, run string) (*runRecord, error) {
	out, err := c.cl.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(c.bucket), Key: key(run)})
	if err != nil {
		return nil, err
	}
	defer out.Body.Close()
	var r runRecord
	if err := json.NewDecoder(out.Body).Decode(&r); err != nil {
		return nil, fmt.Errorf("run %s: %w", run, err)
	}
	return &r, nil
}

// Advance notes a finished file and the phase that follows.
func (c *Coordinator) Advance(ctx context.Context, run, file, phase string) error {
	r, err := c.load(ctx, run)
	if err != nil {
		return err
	}
	if r.Runner != c.self {
		return fmt.Errorf("%w: %s", ErrForeignRun, r.Runner)
	}
	r.Done = append(r.Done, file)
	r.Phase = phase
	raw, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	_, err = c.cl.PutObject(ctx, &s3.PutObjectInput{ // want:C
		Bucket: aws.String(c.bucket), Key: key(run), Body: bytes.NewReader(raw), ContentType: aws.String("application/json"),
	})
	return err
}
