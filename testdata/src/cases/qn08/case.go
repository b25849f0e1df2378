package qn08

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
)

var ErrConflict = errors.New("manifest was replaced")

// Manifest is a small object that compactors replace. ETag is that of the
// version it was read from, empty if there was none.
type Manifest struct {
	ETag string
	Body []byte
}

type Store struct {
	s3     *s3.Client
	bucket string
	key    string
}

func (s *Store) Load(ctx context.Context) (*Manifest, error) {
	out, err := s.s3.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.bucket, Key: &s.key})
	if code(err) == "NoSuchKey" {
		return &Manifest{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer out.Body.Close()
	body, err := io.ReadAll(out.Body)
	return &Manifest{ETag: aws.ToString(out.ETag), Body: body}, err
}

// Replace stores body if the manifest is still the one that was loaded.
func (s *Store) Replace(ctx context.Context, m *Manifest, body []byte) error {
	in := &s3.PutObjectInput{
		Bucket: aws.String(s.bucket),
		Key:    aws.String(s.key),
		Body:   bytes.NewReader(body),
	}
	if m.ETag == "" {
		in.IfNoneMatch = aws.String("*")
	} else {
		in.IfMatch = aws.String(m.ETag)
	}
	out, err := s.s3.PutObject(ctx, in)
	if code(err) == "PreconditionFailed" {
		return ErrConflict
	}
	if err != nil {
		return fmt.Errorf("replace manifest: %w", err)
	}
	m.ETag, m.Body = aws.ToString(out.ETag), body
	return nil
}

// Drop removes exactly the version that was loaded.
func (s *Store) Drop(ctx context.Context, m *Manifest) error {
	_, err := s.s3.DeleteObject(ctx, &s3.DeleteObjectInput{
		Bucket: aws.String(s.bucket), Key: aws.String(s.key), IfMatch: aws.String(m.ETag),
	})
	if code(err) == "PreconditionFailed" {
		return ErrConflict
	}
	return err
}

func code(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}
