package hc04

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

type Manifest struct {
	Epoch int      `json:"epoch"`
	Files []string `json:"files"`
}

type Compactor struct {
	etcd   *clientv3.Client
	store  *s3.Client
	bucket string
}

func (c *Compactor) Compact(ctx context.Context, shard string, merge func(Manifest) Manifest) error {
	sess, err := concurrency.NewSession(c.etcd, concurrency.WithTTL(10))
	if err != nil {
		return err
	}
	defer sess.Close()

	mu := concurrency.NewMutex(sess, "/compaction/"+shard)
	if err := mu.Lock(ctx); err != nil {
		return fmt.Errorf("lock shard %s: %w", shard, err)
	}
	defer mu.Unlock(context.Background())

	key := "manifests/" + shard + ".json"
	m, err := c.load(ctx, key)
	if err != nil {
		return err
	}
	body, err := json.Marshal(merge(m))
	if err != nil {
		return err
	}
	_, err = c.store.PutObject(ctx, &s3.PutObjectInput{ // want:C
		Bucket:      aws.String(c.bucket),
		Key:         aws.String(key),
		Body:        bytes.NewReader(body),
		ContentType: aws.String("application/json"),
	})
	return err
}

func (c *Compactor) load(ctx context.Context, key string) (m Manifest, err error) {
	out, err := c.store.GetObject(ctx, &s3.GetObjectInput{Bucket: &c.bucket, Key: &key})
	if err != nil {
		return m, err
	}
	defer out.Body.Close()
	err = json.NewDecoder(out.Body).Decode(&m)
	return m, err
}
