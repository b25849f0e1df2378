package hc21

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/uuid"
)

type ObjectAPI interface {
	GetObject(context.Context, *s3.GetObjectInput, ...func(*s3.Options)) (*s3.GetObjectOutput, error)
	PutObject(context.Context, *s3.PutObjectInput, ...func(*s3.Options)) (*s3.PutObjectOutput, error)
	DeleteObject(context.Context, *s3.DeleteObjectInput, ...func(*s3.Options)) (*s3.DeleteObjectOutput, error)
}

type claimDoc struct {
	ID string `json:"id"`
}

type BucketLock struct {
	api    ObjectAPI
	bucket string
	key    string
	id     string
}

func (b *BucketLock) Lock(ctx context.Context) error {
	b.id = uuid.NewString()
	raw, err := json.Marshal(claimDoc{ID: b.id})
	if err != nil {
		return err
	}
	_, err = b.api.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &b.bucket, Key: &b.key, Body: bytes.NewReader(raw), IfNoneMatch: aws.String("*"),
	})
	return err
}

func (b *BucketLock) Unlock(ctx context.Context) error {
	out, err := b.api.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.bucket, Key: &b.key})
	if err != nil {
		return err
	}
	defer out.Body.Close()
	var doc claimDoc
	if err := json.NewDecoder(out.Body).Decode(&doc); err != nil {
		return err
	}
	if doc.ID == b.id {
		_, err = b.api.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.bucket, Key: &b.key}) // want:C
		return err
	}
	return fmt.Errorf("%s is locked by %s", b.key, doc.ID)
}
