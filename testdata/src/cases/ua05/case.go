// Package ua05 compacts log segments in a bucket.
package ua05

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"sort"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/hashicorp/consul/api"
)

type manifest struct {
	Segments []string  `json:"segments"`
	Built    time.Time `json:"built"`
}

type Compactor struct {
	consul *api.Client
	obj    *s3.Client
	bucket string
	topic  string
}

var errInterrupted = errors.New("compaction interrupted")

// Serve compacts one topic for as long as the key in Consul is ours.
func (c *Compactor) Serve(ctx context.Context) error {
	l, err := c.consul.LockOpts(&api.LockOptions{Key: "compactor/" + c.topic, SessionTTL: "15s", LockDelay: time.Second})
	if err != nil {
		return err
	}
	lost, err := l.Lock(ctx.Done())
	if err != nil {
		return err
	}
	if lost == nil {
		return ctx.Err()
	}
	defer func() { _ = l.Unlock() }()

	t := time.NewTicker(time.Minute)
	defer t.Stop()
	for {
		select {
		case <-lost:
			return errInterrupted
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
			if err := c.refresh(ctx); err != nil {
				log.Printf("compact %s: %v", c.topic, err)
			}
		}
	}
}

func (c *Compactor) refresh(ctx context.Context) error {
	var m manifest
	p := s3.NewListObjectsV2Paginator(c.obj, &s3.ListObjectsV2Input{
		Bucket: aws.String(c.bucket), Prefix: aws.String(c.topic + "/seg/"),
	})
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("list: %w", err)
		}
		for _, o := range page.Contents {
			if k := aws.ToString(o.Key); strings.HasSuffix(k, ".seg") {
				m.Segments = append(m.Segments, k)
			}
		}
	}
	sort.Strings(m.Segments)
	m.Built = time.Now()
	raw, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = c.obj.PutObject(ctx, &s3.PutObjectInput{ // want:C
		Bucket: aws.String(c.bucket),
		Key:    aws.String(c.topic + "/manifest.json"),
		Body:   bytes.NewReader(raw),
	})
	return err
}
