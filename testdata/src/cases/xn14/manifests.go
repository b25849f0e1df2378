package xn14

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
)

var ErrChanged = errors.New("manifest was changed by another compactor")

type Bucket struct {
	cl   *s3.Client
	name string
}

type option func(*s3.PutObjectInput)

func over(etag string) option { return func(in *s3.PutObjectInput) { in.IfMatch = aws.String(etag) } }

func (b *Bucket) load(ctx context.Context, key string) (body []byte, etag string, err error) {
	out, err := b.cl.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(b.name), Key: aws.String(key)})
	if err != nil {
		return nil, "", err
	}
	defer out.Body.Close()
	body, err = io.ReadAll(out.Body)
	return body, aws.ToString(out.ETag), err
}

// Update replaces a manifest by what fn makes of it, if it is still the same.
func (b *Bucket) Update(ctx context.Context, table string, fn func([]byte) ([]byte, error)) error {
	key := "manifests/" + table
	old, etag, err := b.load(ctx, key)
	if err != nil {
		return err
	}
	body, err := fn(old)
	if err != nil {
		return err
	}
	in := &s3.PutObjectInput{Bucket: aws.String(b.name), Key: aws.String(key), Body: bytes.NewReader(body)}
	over(etag)(in)
	_, err = b.cl.PutObject(ctx, in)
	return conflict(err)
}

// Create makes the first manifest of a table.
func (b *Bucket) Create(ctx context.Context, table string, body []byte) error {
	_, err := b.cl.PutObject(ctx, &s3.PutObjectInput{
		Bucket:      aws.String(b.name),
		Key:         aws.String("manifests/" + table),
		Body:        bytes.NewReader(body),
		IfNoneMatch: aws.String("*"),
	})
	return conflict(err)
}

// PutData stores immutable files under names that are used once.
func (b *Bucket) PutData(ctx context.Context, file string, r io.Reader) error {
	_, err := b.cl.PutObject(ctx, &s3.PutObjectInput{
		Bucket: aws.String(b.name), Key: aws.String("data/" + file), Body: r,
	})
	return err
}

func conflict(err error) error {
	var ae smithy.APIError
	if errors.As(err, &ae) && ae.ErrorCode() == "PreconditionFailed" {
		return ErrChanged
	}
	return err
}
