package uf25

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

var ErrInUse = errors.New("backup target is in use")

type catalogue struct {
	Backups []string  `json:"backups"`
	Updated time.Time `json:"updated"`
}

// Target is a backup location: an index object in a bucket, a row per target
// that says who works on it.
type Target struct {
	s3     *s3.Client
	db     *dynamodb.Client
	bucket string
	prefix string
	table  string
}

func (t *Target) key() map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"Target": &types.AttributeValueMemberS{Value: t.bucket + "/" + t.prefix}}
}

func (t *Target) Reserve(ctx context.Context, who string) error {
	item := t.key()
	item["Worker"] = &types.AttributeValueMemberS{Value: who}
	_, err := t.db.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &t.table, Item: item,
		ConditionExpression: aws.String("attribute_not_exists(Target)"),
	})
	var ccf *types.ConditionalCheckFailedException
	if errors.As(err, &ccf) {
		return ErrInUse
	}
	return err
}

// Publish replaces the index and notes its checksum. A worker that was taken
// for dead overwrites the index of its successor.
func (t *Target) Publish(ctx context.Context, c catalogue) error {
	raw, err := json.Marshal(c)
	if err != nil {
		return err
	}
	_, err = t.s3.PutObject(ctx, &s3.PutObjectInput{ // want:W
		Bucket:      aws.String(t.bucket),
		Key:         aws.String(t.prefix + "/index.json"),
		Body:        bytes.NewReader(raw),
		ContentType: aws.String("application/json"),
	})
	if err != nil {
		return fmt.Errorf("put index: %w", err)
	}
	sum := sha256.Sum256(raw)
	return t.note(ctx, hex.EncodeToString(sum[:]))
}

func (t *Target) note(ctx context.Context, sum string) error {
	in := &dynamodb.UpdateItemInput{
		TableName:        aws.String(t.table),
		Key:              t.key(),
		UpdateExpression: aws.String("SET IndexSum = :s"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":s": &types.AttributeValueMemberS{Value: sum},
		},
	}
	if _, err := t.db.UpdateItem(ctx, in); err != nil { // want:W
		return fmt.Errorf("note checksum: %w", err)
	}
	return nil
}
