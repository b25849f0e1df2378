// Package ka11 publishes the package index of an apt repository.
package ka11

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/bsm/redislock"
)

type Package struct {
	Name, Version, SHA256 string
}

type Publisher struct {
	locks  *redislock.Client
	s3     *s3.Client
	bucket string
	list   func(ctx context.Context, dist string) ([]Package, error)
}

var ErrPublishing = errors.New("another publisher is at work")

func (p *Publisher) Publish(ctx context.Context, dist string) error { // may:M
	lock, err := p.locks.Obtain(ctx, "apt:publish:"+dist, 45*time.Second, &redislock.Options{
		RetryStrategy: redislock.LimitRetry(redislock.LinearBackoff(200*time.Millisecond), 5),
	})
	if errors.Is(err, redislock.ErrNotObtained) {
		return ErrPublishing
	}
	if err != nil {
		return err
	}
	defer lock.Release(context.WithoutCancel(ctx)) // may:S

	pkgs, err := p.list(ctx, dist)
	if err != nil {
		return err
	}
	var buf bytes.Buffer
	for _, k := range pkgs {
		fmt.Fprintf(&buf, "Package: %s\nVersion: %s\nSHA256: %s\n\n", k.Name, k.Version, k.SHA256)
	}
	ttl, err := lock.TTL(ctx)
	if err != nil {
		return err
	}
	if ttl <= 0 {
		return ErrPublishing
	}
	return p.upload(ctx, "dists/"+dist+"/Packages", buf.Bytes()) // may:C|W
}

func (p *Publisher) upload(ctx context.Context, key string, body []byte) error {
	_, err := p.s3.PutObject(ctx, &s3.PutObjectInput{ // want:C|W
		Bucket:      aws.String(p.bucket),
		Key:         aws.String(key),
		Body:        bytes.NewReader(body),
		ContentType: aws.String("text/plain"),
	})
	if err != nil {
		return fmt.Errorf("upload %s: %w", key, err)
	}
	return nil
}
