package hz09

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
)

// Catalog is a JSON object that lists the snapshots of a backup set. Several
// agents write it; each write carries the ETag of the version it is based on.
type Catalog struct {
	Snapshots []string `json:"snapshots"`
	Writer    string   `json:"writer"`
	etag      string
}

type Bucket struct {
	cl   *s3.Client
	name string
	host string
}

var ErrConflict = errors.New("catalog changed")

func (b *Bucket) load(ctx context.Context, key string) (*Catalog, error) {
	out, err := b.cl.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &key})
	if err != nil {
		var ae smithy.APIError
		if errors.As(err, &ae) && ae.ErrorCode() == "NoSuchKey" {
			return &Catalog{}, nil
		}
		return nil, err
	}
	defer out.Body.Close()
	c := &Catalog{etag: aws.ToString(out.ETag)}
	return c, json.NewDecoder(out.Body).Decode(c)
}

func (b *Bucket) save(ctx context.Context, key string, c *Catalog) error {
	c.Writer = b.host
	body, err := json.Marshal(c)
	if err != nil {
		return err
	}
	in := &s3.PutObjectInput{Bucket: &b.name, Key: &key, Body: bytes.NewReader(body)}
	if c.etag != "" {
		in.IfMatch = aws.String(c.etag)
	} else {
		in.IfNoneMatch = aws.String("*")
	}
	_, err = b.cl.PutObject(ctx, in)
	var ae smithy.APIError
	if errors.As(err, &ae) && ae.ErrorCode() == "PreconditionFailed" {
		return ErrConflict
	}
	return err
}

// Add retries until its change went in on top of the newest version.
func (b *Bucket) Add(ctx context.Context, key, snap string) error {
	for range 10 {
		c, err := b.load(ctx, key)
		if err != nil {
			return err
		}
		c.Snapshots = append(c.Snapshots, snap)
		err = b.save(ctx, key, c)
		if !errors.Is(err, ErrConflict) {
			return err
		}
	}
	return ErrConflict
}
