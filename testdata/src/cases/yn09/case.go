package yn09

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
)

var ErrFenced = errors.New("a newer writer has opened the database")

type manifest struct {
	WriterEpoch int64    `json:"writer_epoch"`
	Sorted      []string `json:"sorted"`
}

// Writer keeps an LSM tree in a bucket; its epoch is part of the manifest and
// every replacement is conditional on the object that was read.
type Writer struct {
	s3     *s3.Client
	bucket string
	key    string
	epoch  int64
}

func (w *Writer) read(ctx context.Context) (*manifest, string, error) {
	out, err := w.s3.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(w.bucket), Key: aws.String(w.key)})
	if err != nil {
		return nil, "", err
	}
	defer out.Body.Close()
	var m manifest
	if err := json.NewDecoder(out.Body).Decode(&m); err != nil {
		return nil, "", fmt.Errorf("manifest: %w", err)
	}
	return &m, aws.ToString(out.ETag), nil
}

// Flush adds a table to the manifest.
func (w *Writer) Flush(ctx context.Context, table string) error {
	m, etag, err := w.read(ctx)
	if err != nil {
		return err
	}
	if m.WriterEpoch != w.epoch {
		return ErrFenced
	}
	m.Sorted = append(m.Sorted, table)
	raw, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = w.s3.PutObject(ctx, &s3.PutObjectInput{
		Bucket: aws.String(w.bucket), Key: aws.String(w.key),
		Body: bytes.NewReader(raw), IfMatch: aws.String(etag),
	})
	var api smithy.APIError
	if errors.As(err, &api) && api.ErrorCode() == "PreconditionFailed" {
		return ErrFenced
	}
	return err
}
