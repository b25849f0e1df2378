package mn06

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

var ErrConflict = errors.New("object changed")

type lockBody struct {
	ID  string `json:"id"`
	Who string `json:"who"`
}

// Backend keeps a state object and a lock object next to it.
type Backend struct {
	cl     *s3.Client
	bucket string
	key    string
}

func conflict(err error) error {
	var ae smithy.APIError
	if errors.As(err, &ae) && ae.ErrorCode() == "PreconditionFailed" {
		return ErrConflict
	}
	return err
}

func (b *Backend) Lock(ctx context.Context, l lockBody) error {
	raw, err := json.Marshal(l)
	if err != nil {
		return err
	}
	_, err = b.cl.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &b.bucket, Key: aws.String(b.key + ".lock"), Body: bytes.NewReader(raw), IfNoneMatch: aws.String("*"),
	})
	return conflict(err)
}

func (b *Backend) Unlock(ctx context.Context, id string) error {
	out, err := b.cl.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.bucket, Key: aws.String(b.key + ".lock")})
	if err != nil {
		return fmt.Errorf("get lock: %w", err)
	}
	defer out.Body.Close()
	var cur lockBody
	if err := json.NewDecoder(out.Body).Decode(&cur); err != nil {
		return fmt.Errorf("decode lock: %w", err)
	}
	if cur.ID != id {
		return fmt.Errorf("locked by %s", cur.Who)
	}
	_, err = b.cl.DeleteObject(ctx, &s3.DeleteObjectInput{
		Bucket: &b.bucket, Key: aws.String(b.key + ".lock"), IfMatch: out.ETag,
	})
	return conflict(err)
}

// Put replaces the version of the state with this tag.
func (b *Backend) Put(ctx context.Context, data []byte, etag string) (string, error) {
	in := &s3.PutObjectInput{Bucket: &b.bucket, Key: &b.key, Body: bytes.NewReader(data)}
	if etag != "" {
		in.IfMatch = &etag
	} else {
		in.IfNoneMatch = aws.String("*")
	}
	out, err := b.cl.PutObject(ctx, in)
	if err != nil {
		return "", conflict(err)
	}
	return aws.ToString(out.ETag), nil
}
