package uw17

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// Store keeps the state of stream operators in a bucket.
type Store struct {
	cl     *s3.Client
	bucket string
}

type Manifest struct {
	Operator string   `json:"operator"`
	Epoch    int64    `json:"epoch"`
	Files    []string `json:"files"`
}

func (s *Store) upload(ctx context.Context, key string, body []byte, kind string) error {
	_, err := s.cl.PutObject(ctx, &s3.PutObjectInput{
		Bucket:      aws.String(s.bucket),
		Key:         aws.String(key),
		Body:        bytes.NewReader(body),
		ContentType: aws.String(kind),
	})
	if err != nil {
		return fmt.Errorf("upload %s: %w", key, err)
	}
	return nil
}

// Commit replaces the operator's manifest, whatever manifest is there.
func (s *Store) Commit(ctx context.Context, m Manifest) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return s.upload(ctx, "checkpoints/"+m.Operator+"/MANIFEST", b, "application/json") // want:W
}

// Log and Report go to keys that nobody fights over.
func (s *Store) Log(ctx context.Context, node string, b []byte) error {
	return s.upload(ctx, "logs/"+node, b, "text/plain")
}

func (s *Store) Report(ctx context.Context, day string, b []byte) error {
	return s.upload(ctx, fmt.Sprintf("reports/%s.html", day), b, "text/html")
}

const prefix = "checkpoints/"

// Rollback points an operator at an older epoch.
func (s *Store) Rollback(ctx context.Context, op string, epoch int64) error {
	key := fmt.Sprintf(prefix+"%s/CURRENT", op)
	return s.upload(ctx, key, fmt.Appendf(nil, "%d", epoch), "text/plain") // want:W
}
