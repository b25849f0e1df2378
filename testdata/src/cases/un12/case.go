// Package un12 stores infrastructure state in a bucket, with a lock record in a
// table.
package un12

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	"github.com/google/uuid"
)

var (
	ErrLocked  = errors.New("state is locked")
	ErrNotHeld = errors.New("lock is not held")
	ErrChanged = errors.New("state was changed by another run")
)

type State struct {
	Body []byte
	etag *string
}

type Backend struct {
	obj          *s3.Client
	rows         *dynamodb.Client
	bucket, path string
	table        string
}

func (b *Backend) Lock(ctx context.Context) (id string, err error) {
	id = uuid.NewString()
	_, err = b.rows.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String(b.table),
		Item: map[string]ddb.AttributeValue{
			"Path": &ddb.AttributeValueMemberS{Value: b.path},
			"Run":  &ddb.AttributeValueMemberS{Value: id},
		},
		ConditionExpression:      aws.String("attribute_not_exists(#p)"),
		ExpressionAttributeNames: map[string]string{"#p": "Path"},
	})
	var taken *ddb.ConditionalCheckFailedException
	if errors.As(err, &taken) {
		return "", ErrLocked
	}
	return id, err
}

func (b *Backend) Unlock(ctx context.Context, id string) error {
	_, err := b.rows.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName:                 aws.String(b.table),
		Key:                       map[string]ddb.AttributeValue{"Path": &ddb.AttributeValueMemberS{Value: b.path}},
		ConditionExpression:       aws.String("#r = :id"),
		ExpressionAttributeNames:  map[string]string{"#r": "Run"},
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":id": &ddb.AttributeValueMemberS{Value: id}},
	})
	var other *ddb.ConditionalCheckFailedException
	if errors.As(err, &other) {
		return ErrNotHeld
	}
	return err
}

func (b *Backend) Read(ctx context.Context) (*State, error) {
	out, err := b.obj.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(b.bucket), Key: aws.String(b.path)})
	if err != nil {
		return nil, err
	}
	defer out.Body.Close()
	raw, err := io.ReadAll(out.Body)
	return &State{Body: raw, etag: out.ETag}, err
}

// Write replaces the version that was read.
func (b *Backend) Write(ctx context.Context, s *State) error {
	in := &s3.PutObjectInput{Bucket: aws.String(b.bucket), Key: aws.String(b.path), Body: bytes.NewReader(s.Body)}
	if s.etag != nil {
		in.IfMatch = s.etag
	} else {
		in.IfNoneMatch = aws.String("*")
	}
	out, err := b.obj.PutObject(ctx, in)
	var api smithy.APIError
	if errors.As(err, &api) && (api.ErrorCode() == "PreconditionFailed" || api.ErrorCode() == "ConditionalRequestConflict") {
		return ErrChanged
	}
	if err != nil {
		return fmt.Errorf("write state: %w", err)
	}
	s.etag = out.ETag
	return nil
}

// Apply plans and applies with the lock held.
func (b *Backend) Apply(ctx context.Context, fn func(*State) error) (err error) {
	id, err := b.Lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Unlock(context.WithoutCancel(ctx), id)) }()
	s, err := b.Read(ctx)
	if err != nil {
		return err
	}
	if err := fn(s); err != nil {
		return err
	}
	return b.Write(ctx, s)
}
