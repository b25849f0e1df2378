package ud11

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

type ownerRecord struct {
	Owner string `json:"owner"`
	Epoch int64  `json:"epoch"`
}

type manifest struct {
	Tables []string `json:"tables"`
	Seq    uint64   `json:"seq"`
}

var errFenced = errors.New("compactor was replaced")

// Compactor rewrites the manifest of an index kept in object storage.
type Compactor struct {
	s3     *s3.Client
	bucket string
	prefix string
	epoch  int64
}

func (c *Compactor) load(ctx context.Context, name string, v any) error {
	out, err := c.s3.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(c.bucket), Key: aws.String(c.prefix + name)})
	if err != nil {
		return err
	}
	defer out.Body.Close()
	return json.NewDecoder(out.Body).Decode(v)
}

func (c *Compactor) ensureOwner(ctx context.Context) error {
	var rec ownerRecord
	if err := c.load(ctx, "/owner.json", &rec); err != nil {
		return fmt.Errorf("owner record: %w", err)
	}
	if rec.Epoch != c.epoch {
		return errFenced
	}
	return nil
}

// Commit replaces the merged tables by their result.
func (c *Compactor) Commit(ctx context.Context, result string) error {
	var m manifest
	if err := c.load(ctx, "/manifest.json", &m); err != nil {
		return err
	}
	m.Tables, m.Seq = []string{result}, m.Seq+1
	raw, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := c.ensureOwner(ctx); err != nil {
		return err
	}
	_, err = c.s3.PutObject(ctx, &s3.PutObjectInput{ // want:C
		Bucket: aws.String(c.bucket), Key: aws.String(c.prefix + "/manifest.json"), Body: bytes.NewReader(raw),
	})
	return err
}
