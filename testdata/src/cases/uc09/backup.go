package uc09

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

var ErrLocked = errors.New("another backup is running")

type lockDoc struct {
	Owner   string    `json:"owner"`
	Expires time.Time `json:"expires"`
}

// Coordinator makes one backup of a repository at a time; hosts meet only in
// the bucket.
type Coordinator struct {
	s3     *s3.Client
	bucket string
	repo   string
	owner  string // host name and start time
	ttl    time.Duration
	dump   func(ctx context.Context) (snapshot string, err error)
}

func (c *Coordinator) lockPath() string { return c.repo + "/LOCK" }

func (c *Coordinator) readLock(ctx context.Context) (*lockDoc, *string, error) {
	out, err := c.s3.GetObject(ctx, &s3.GetObjectInput{Bucket: &c.bucket, Key: aws.String(c.lockPath())})
	var none *types.NoSuchKey
	if errors.As(err, &none) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	defer out.Body.Close()
	b, err := io.ReadAll(out.Body)
	if err != nil {
		return nil, nil, err
	}
	var d lockDoc
	return &d, out.ETag, json.Unmarshal(b, &d)
}

func (c *Coordinator) acquire(ctx context.Context) error {
	cur, etag, err := c.readLock(ctx)
	if err != nil {
		return err
	}
	if cur != nil && time.Now().Before(cur.Expires) { // want:T
		return fmt.Errorf("%w: %s", ErrLocked, cur.Owner)
	}
	b, err := json.Marshal(lockDoc{Owner: c.owner, Expires: time.Now().Add(c.ttl)}) // may:T
	if err != nil {
		return err
	}
	in := &s3.PutObjectInput{Bucket: &c.bucket, Key: aws.String(c.lockPath()), Body: bytes.NewReader(b)}
	if etag == nil {
		in.IfNoneMatch = aws.String("*")
	} else {
		in.IfMatch = etag
	}
	_, err = c.s3.PutObject(ctx, in)
	return err
}

func (c *Coordinator) release(ctx context.Context) error {
	cur, _, err := c.readLock(ctx)
	if err != nil || cur == nil {
		return err
	}
	if cur.Owner != c.owner {
		return ErrLocked
	}
	_, err = c.s3.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &c.bucket, Key: aws.String(c.lockPath())}) // want:C
	return err
}

func (c *Coordinator) Backup(ctx context.Context) (err error) { // may:M
	if err := c.acquire(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.release(context.WithoutCancel(ctx))) }()
	snap, err := c.dump(ctx)
	if err != nil {
		return err
	}
	_, err = c.s3.PutObject(ctx, &s3.PutObjectInput{ // want:C
		Bucket: &c.bucket,
		Key:    aws.String(c.repo + "/LATEST"),
		Body:   bytes.NewReader([]byte(snap)),
	})
	return err
}
