package vn12

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/uuid"
)

// State keeps a stack's state and its lock as two objects; both are only ever
// written under a precondition.
type State struct {
	s3       *s3.Client
	bucket   string
	key      string
	id       string
	lockETag *string
	etag     *string
}

func New(c *s3.Client, bucket, key string) *State {
	return &State{s3: c, bucket: bucket, key: key}
}

var ErrLocked = errors.New("state is locked")

func (s *State) Lock(ctx context.Context, who string) error {
	s.id = uuid.NewString()
	raw, err := json.Marshal(map[string]string{"id": s.id, "who": who})
	if err != nil {
		return err
	}
	out, err := s.s3.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &s.bucket, Key: aws.String(s.key + ".lock"), Body: bytes.NewReader(raw), IfNoneMatch: aws.String("*"),
	})
	if err != nil {
		return errors.Join(ErrLocked, err)
	}
	s.lockETag = out.ETag
	return nil
}

func (s *State) Read(ctx context.Context) ([]byte, error) {
	out, err := s.s3.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.bucket, Key: &s.key})
	if err != nil {
		return nil, err
	}
	defer out.Body.Close()
	s.etag = out.ETag
	return io.ReadAll(out.Body)
}

// Write replaces exactly the version that was read.
func (s *State) Write(ctx context.Context, body []byte) error {
	in := &s3.PutObjectInput{Bucket: &s.bucket, Key: &s.key, Body: bytes.NewReader(body)}
	if s.etag != nil {
		in.IfMatch = s.etag
	} else {
		in.IfNoneMatch = aws.String("*")
	}
	out, err := s.s3.PutObject(ctx, in)
	if err != nil {
		return fmt.Errorf("state %s changed: %w", s.key, err)
	}
	s.etag = out.ETag
	return nil
}

func (s *State) Unlock(ctx context.Context) error {
	if s.lockETag == nil {
		return nil
	}
	_, err := s.s3.DeleteObject(ctx, &s3.DeleteObjectInput{
		Bucket: &s.bucket, Key: aws.String(s.key + ".lock"), IfMatch: s.lockETag,
	})
	return err
}
