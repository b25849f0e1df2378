// Package manifest stores the list of live segments as one object.
package manifest

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

type Manifest struct {
	Segments []string `json:"segments"`
}

// ObjectAPI is what the repository needs from the S3 client.
type ObjectAPI interface {
	GetObject(ctx context.Context, in *s3.GetObjectInput, opts ...func(*s3.Options)) (*s3.GetObjectOutput, error)
	PutObject(ctx context.Context, in *s3.PutObjectInput, opts ...func(*s3.Options)) (*s3.PutObjectOutput, error)
}

type Repo struct {
	api    ObjectAPI
	bucket string
}

func NewRepo(api ObjectAPI, bucket string) *Repo { return &Repo{api: api, bucket: bucket} }

func (r *Repo) Load(ctx context.Context, key string) (*Manifest, error) {
	out, err := r.api.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(r.bucket), Key: aws.String(key)})
	if err != nil {
		return nil, err
	}
	defer out.Body.Close()
	m := new(Manifest)
	return m, json.NewDecoder(out.Body).Decode(m)
}

func (r *Repo) Save(ctx context.Context, key string, m *Manifest) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = r.api.PutObject(ctx, &s3.PutObjectInput{ // may:C|W
		Bucket:      aws.String(r.bucket),
		Key:         aws.String(key),
		Body:        bytes.NewReader(b),
		ContentType: aws.String("application/json"),
	})
	return err
}
