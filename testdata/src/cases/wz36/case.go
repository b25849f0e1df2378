package wz36

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/uuid"
)

var ErrConcurrent = errors.New("another committer was first")

type Snapshot struct {
	Version int64    `json:"version"`
	Files   []string `json:"files"`
}

// Committer appends snapshots to a table. Metadata objects are replaced under
// If-Match, the pointer item under a condition on its version.
type Committer struct {
	objects *s3.Client
	items   *dynamodb.Client
	bucket  string
}

// put fills the condition in after the input was made, as create or replace.
func (c *Committer) put(ctx context.Context, table string, body []byte, etag string) (string, error) {
	in := &s3.PutObjectInput{
		Bucket: aws.String(c.bucket),
		Key:    aws.String("meta/" + table + ".json"),
		Body:   bytes.NewReader(body),
	}
	if etag == "" {
		in.IfNoneMatch = aws.String("*")
	} else {
		in.IfMatch = aws.String(etag)
	}
	out, err := c.objects.PutObject(ctx, in)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrConcurrent, err)
	}
	return aws.ToString(out.ETag), nil
}

// Data objects have names of their own; nothing is overwritten.
func (c *Committer) Data(ctx context.Context, table string, body []byte) (string, error) {
	key := "data/" + table + "/" + uuid.NewString()
	_, err := c.objects.PutObject(ctx, &s3.PutObjectInput{Bucket: &c.bucket, Key: &key, Body: bytes.NewReader(body)})
	return key, err
}

func (c *Committer) Commit(ctx context.Context, table, etag string, s Snapshot) (string, error) {
	raw, err := json.Marshal(s)
	if err != nil {
		return "", err
	}
	tag, err := c.put(ctx, table, raw, etag)
	if err != nil {
		return "", err
	}
	return tag, c.point(ctx, table, tag, s.Version)
}

func (c *Committer) point(ctx context.Context, table, etag string, version int64) error {
	expr, err := expression.NewBuilder().
		WithUpdate(expression.Set(expression.Name("etag"), expression.Value(etag)).
			Set(expression.Name("version"), expression.Value(version))).
		WithCondition(expression.Name("version").LessThan(expression.Value(version))).
		Build()
	if err != nil {
		return err
	}
	_, err = c.items.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 aws.String("meta/tables"),
		Key:                       map[string]ddbtypes.AttributeValue{"name": &ddbtypes.AttributeValueMemberS{Value: table}},
		UpdateExpression:          expr.Update(),
		ConditionExpression:       expr.Condition(),
		ExpressionAttributeNames:  expr.Names(),
		ExpressionAttributeValues: expr.Values(),
	})
	if cond := new(ddbtypes.ConditionalCheckFailedException); errors.As(err, &cond) {
		return ErrConcurrent
	}
	return err
}

func (c *Committer) Drop(ctx context.Context, table, etag string) error {
	_, err := c.objects.DeleteObject(ctx, &s3.DeleteObjectInput{
		Bucket:  aws.String(c.bucket),
		Key:     aws.String("meta/" + table + ".json"),
		IfMatch: aws.String(etag),
	})
	return err
}
