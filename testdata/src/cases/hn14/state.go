package hn14

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/bsm/redislock"
)

var errOvertaken = errors.New("index was rewritten by another node")

type Index struct {
	s3     *s3.Client
	bucket string
	locks  *redislock.Client
}

// Rewrite takes a lock to save work, but the write itself is conditional.
func (x *Index) Rewrite(ctx context.Context, name string, change func(map[string]string)) error {
	lk, err := x.locks.Obtain(ctx, "index/"+name, 0, nil)
	if err != nil {
		return err
	}
	defer lk.Release(ctx)
	out, err := x.s3.GetObject(ctx, &s3.GetObjectInput{Bucket: &x.bucket, Key: &name})
	if err != nil {
		return err
	}
	defer out.Body.Close()
	raw, err := io.ReadAll(out.Body)
	if err != nil {
		return err
	}
	doc := map[string]string{}
	if err := json.Unmarshal(raw, &doc); err != nil {
		return err
	}
	change(doc)
	return x.store(ctx, name, doc, aws.ToString(out.ETag))
}

func (x *Index) store(ctx context.Context, name string, doc map[string]string, etag string) error {
	raw, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	in := &s3.PutObjectInput{Bucket: &x.bucket, Key: &name, Body: bytes.NewReader(raw)}
	if etag != "" {
		in.IfMatch = &etag
	} else {
		in.IfNoneMatch = aws.String("*")
	}
	if _, err := x.s3.PutObject(ctx, in); err != nil {
		return errors.Join(errOvertaken, err)
	}
	return nil
}
