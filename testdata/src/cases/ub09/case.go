package ub09

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// Storage keeps certificates for several web servers in one bucket. Lock makes
// one of them talk to the CA.
type Storage struct {
	s3     *s3.Client
	bucket string
	node   string
}

type lockInfo struct {
	Node    string    `json:"node"`
	Expires time.Time `json:"expires"`
}

var errLocked = errors.New("locked by another node")

const lockTTL = 2 * time.Minute

func (s *Storage) lockKey(name string) *string { return aws.String("locks/" + name + ".lock") }

func (s *Storage) holder(ctx context.Context, name string) (*lockInfo, error) {
	out, err := s.s3.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.bucket, Key: s.lockKey(name)})
	var missing *types.NoSuchKey
	if errors.As(err, &missing) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer out.Body.Close()
	raw, err := io.ReadAll(out.Body)
	if err != nil {
		return nil, err
	}
	info := new(lockInfo)
	return info, json.Unmarshal(raw, info)
}

func (s *Storage) Lock(ctx context.Context, name string) error {
	for {
		err := s.tryLock(ctx, name)
		if !errors.Is(err, errLocked) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

func (s *Storage) tryLock(ctx context.Context, name string) error {
	cur, err := s.holder(ctx, name)
	if err != nil {
		return err
	}
	if cur != nil && time.Now().Before(cur.Expires) { // want:T
		return errLocked
	}
	raw, err := json.Marshal(lockInfo{Node: s.node, Expires: time.Now().Add(lockTTL)}) // may:T
	if err != nil {
		return err
	}
	_, err = s.s3.PutObject(ctx, &s3.PutObjectInput{ // want:C
		Bucket: &s.bucket, Key: s.lockKey(name), Body: bytes.NewReader(raw),
	})
	return err
}

func (s *Storage) Unlock(ctx context.Context, name string) error {
	_, err := s.s3.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &s.bucket, Key: s.lockKey(name)}) // may:C
	return err
}
