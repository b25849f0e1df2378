package uf13

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"example.com/corpus/cases/uf13/lockfile"
)

var ErrLocked = errors.New("repository is locked")

type Repo struct {
	cl     *s3.Client
	bucket string
}

func (r *Repo) load(ctx context.Context, key string) (*lockfile.Lock, error) {
	out, err := r.cl.GetObject(ctx, &s3.GetObjectInput{Bucket: &r.bucket, Key: &key})
	if err != nil {
		return nil, fmt.Errorf("get %s: %w", key, err)
	}
	defer out.Body.Close()
	l := new(lockfile.Lock)
	if err := json.NewDecoder(out.Body).Decode(l); err != nil {
		return nil, fmt.Errorf("decode %s: %w", key, err)
	}
	return l, nil
}

// CheckFree fails while some other host keeps its lock fresh.
func (r *Repo) CheckFree(ctx context.Context) error {
	ls, err := r.cl.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &r.bucket, Prefix: aws.String("locks/")})
	if err != nil {
		return err
	}
	for _, o := range ls.Contents {
		l, err := r.load(ctx, aws.ToString(o.Key))
		if err != nil {
			return err
		}
		if !l.Stale() { // may:T
			return fmt.Errorf("%w by %s on %s", ErrLocked, l.Username, l.Hostname)
		}
	}
	return nil
}

// Wait sleeps until the lock under key would go stale.
func (r *Repo) Wait(ctx context.Context, key string) error {
	l, err := r.load(ctx, key)
	if err != nil {
		return err
	}
	left := l.Refreshed.Add(lockfile.StaleAfter).Sub(time.Now()) // want:T
	if left <= 0 {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(left):
		return nil
	}
}

// Create adds a lock under a name of its own.
func (r *Repo) Create(ctx context.Context, name string, l lockfile.Lock) error {
	l.Refreshed = time.Now() // may:T
	b, err := json.Marshal(l)
	if err != nil {
		return err
	}
	_, err = r.cl.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &r.bucket, Key: aws.String("locks/" + name), Body: bytes.NewReader(b), IfNoneMatch: aws.String("*"),
	})
	return err
}
