// Package ua12 keeps certificates and the locks around their issuance in a
// bucket, so that several web servers can share them.
package ua12

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

type Storage struct {
	cl     *s3.Client
	bucket string
	prefix string
	server string

	LockExpiration   time.Duration
	LockPollInterval time.Duration
}

type lockBody struct {
	Server  string    `json:"server"`
	Expires time.Time `json:"expires"`
}

func (s *Storage) lockKey(name string) string { return path.Join(s.prefix, "locks", name+".lock") }

func (s *Storage) readLock(ctx context.Context, key string) (*lockBody, error) {
	out, err := s.cl.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(s.bucket), Key: aws.String(key)})
	if err != nil {
		var nsk *types.NoSuchKey
		if errors.As(err, &nsk) {
			return nil, nil
		}
		return nil, err
	}
	defer out.Body.Close()
	raw, err := io.ReadAll(out.Body)
	if err != nil {
		return nil, err
	}
	var b lockBody
	if err := json.Unmarshal(raw, &b); err != nil {
		return nil, fmt.Errorf("lock %s: %w", key, err)
	}
	return &b, nil
}

// Lock waits until no other server has the name.
func (s *Storage) Lock(ctx context.Context, name string) error {
	key := s.lockKey(name)
	for {
		cur, err := s.readLock(ctx, key)
		if err != nil {
			return err
		}
		if cur == nil || time.Now().After(cur.Expires) { // want:T
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(s.LockPollInterval):
		}
	}
	raw, err := json.Marshal(lockBody{Server: s.server, Expires: time.Now().Add(s.LockExpiration)}) // may:T
	if err != nil {
		return err
	}
	_, err = s.cl.PutObject(ctx, &s3.PutObjectInput{ // want:C
		Bucket: aws.String(s.bucket),
		Key:    aws.String(key),
		Body:   bytes.NewReader(raw),
	})
	return err
}

// Unlock frees the name.
func (s *Storage) Unlock(ctx context.Context, name string) error {
	_, err := s.cl.DeleteObject(ctx, &s3.DeleteObjectInput{ // may:C
		Bucket: aws.String(s.bucket),
		Key:    aws.String(s.lockKey(name)),
	})
	return err
}

func (s *Storage) Load(ctx context.Context, key string) ([]byte, error) {
	out, err := s.cl.GetObject(ctx, &s3.GetObjectInput{
		Bucket: aws.String(s.bucket),
		Key:    aws.String(path.Join(s.prefix, key)),
	})
	if err != nil {
		return nil, err
	}
	defer out.Body.Close()
	return io.ReadAll(out.Body)
}
