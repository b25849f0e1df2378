package wn11

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"k8s.io/client-go/tools/leaderelection"
)

var ErrMoved = errors.New("manifest was moved by another compactor")

type manifest struct {
	Version int      `json:"version"`
	Files   []string `json:"files"`
	etag    string
}

// Compactor merges files of a table in object storage. The election saves
// work; the ETag decides which manifest wins.
type Compactor struct {
	le     *leaderelection.LeaderElector
	s3     *s3.Client
	bucket string
	table  string
	merge  func(ctx context.Context, files []string) ([]string, error)
}

func (c *Compactor) load(ctx context.Context) (*manifest, error) {
	out, err := c.s3.GetObject(ctx, &s3.GetObjectInput{
		Bucket: aws.String(c.bucket), Key: aws.String(c.table + "/manifest.json"),
	})
	if err != nil {
		return nil, err
	}
	defer out.Body.Close()
	m := manifest{etag: aws.ToString(out.ETag)}
	return &m, json.NewDecoder(out.Body).Decode(&m)
}

func (c *Compactor) Compact(ctx context.Context) error {
	if !c.le.IsLeader() {
		return nil
	}
	m, err := c.load(ctx)
	if err != nil {
		return err
	}
	files, err := c.merge(ctx, m.Files)
	if err != nil {
		return fmt.Errorf("merge: %w", err)
	}
	return c.store(ctx, m.etag, &manifest{Version: m.Version + 1, Files: files})
}

func (c *Compactor) store(ctx context.Context, etag string, m *manifest) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = c.s3.PutObject(ctx, &s3.PutObjectInput{
		Bucket:      aws.String(c.bucket),
		Key:         aws.String(c.table + "/manifest.json"),
		ContentType: aws.String("application/json"),
		Body:        bytes.NewReader(b),
		IfMatch:     aws.String(etag),
	})
	var re *awshttp.ResponseError
	if errors.As(err, &re) && re.HTTPStatusCode() == http.StatusPreconditionFailed {
		return ErrMoved
	}
	return err
}
