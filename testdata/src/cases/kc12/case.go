// Package kc12 keeps a replication lease as an object: conditional puts, and a
// lease is taken over only when it has not changed for its duration.
package kc12

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
)

type record struct {
	Owner string        `json:"owner"`
	TTL   time.Duration `json:"ttl"`
	Seq   int64         `json:"seq"`
}

var ErrHeld = errors.New("held by another replica")

type Lease struct {
	s3          *s3.Client
	bucket, key string
	me          string
	ttl         time.Duration

	seenTag string
	seenAt  time.Time // when this process first saw seenTag
}

func (l *Lease) read(ctx context.Context) (*record, string, error) {
	out, err := l.s3.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(l.bucket), Key: aws.String(l.key)})
	if err != nil {
		return nil, "", err
	}
	defer out.Body.Close()
	var r record
	if err := json.NewDecoder(out.Body).Decode(&r); err != nil {
		return nil, "", err
	}
	return &r, aws.ToString(out.ETag), nil
}

// TryTake takes the lease over from an owner that has stopped writing.
func (l *Lease) TryTake(ctx context.Context) error {
	cur, tag, err := l.read(ctx)
	if err != nil {
		return err
	}
	if tag != l.seenTag {
		l.seenTag, l.seenAt = tag, time.Now()
	}
	if cur.Owner != "" && cur.Owner != l.me && time.Since(l.seenAt) < cur.TTL {
		return ErrHeld
	}
	return l.put(ctx, record{Owner: l.me, TTL: l.ttl, Seq: cur.Seq + 1}, tag)
}

func (l *Lease) put(ctx context.Context, r record, tag string) error {
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = l.s3.PutObject(ctx, &s3.PutObjectInput{
		Bucket: aws.String(l.bucket), Key: aws.String(l.key), Body: bytes.NewReader(raw), IfMatch: aws.String(tag),
	})
	var api smithy.APIError
	if errors.As(err, &api) && api.ErrorCode() == "PreconditionFailed" {
		return ErrHeld
	}
	return err
}
