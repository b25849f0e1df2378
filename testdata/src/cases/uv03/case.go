package uv03

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

var ErrLocked = errors.New("workspace is locked")

// Workspaces keeps one state object per workspace. Runs take a row in a table
// first; "unlock -force" deletes that row while the run may still be alive.
type Workspaces struct {
	s3     *s3.Client
	ddb    *dynamodb.Client
	bucket *string
	table  *string
}

func objectKey(ws string) string { return "workspaces/" + ws + "/state.json" }

func rowKey(ws string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"Workspace": &types.AttributeValueMemberS{Value: ws}}
}

func (w *Workspaces) Lock(ctx context.Context, ws, run string) error {
	item := rowKey(ws)
	item["Run"] = &types.AttributeValueMemberS{Value: run}
	_, err := w.ddb.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:           w.table,
		Item:                item,
		ConditionExpression: aws.String("attribute_not_exists(#r)"),
		ExpressionAttributeNames: map[string]string{
			"#r": "Run",
		},
	})
	var held *types.ConditionalCheckFailedException
	if errors.As(err, &held) {
		return ErrLocked
	}
	return err
}

// Save writes the new state and then the digest that readers verify.
func (w *Workspaces) Save(ctx context.Context, ws string, state []byte) error {
	sum := sha256.Sum256(state)
	var input s3.PutObjectInput
	input.Bucket = w.bucket
	input.Key = aws.String(objectKey(ws))
	input.Body = bytes.NewReader(state)
	input.ContentType = aws.String("application/json")
	_, err := w.s3.PutObject(ctx, &input) // want:W
	if err != nil {
		return fmt.Errorf("put state of %s: %w", ws, err)
	}
	return w.saveDigest(ctx, ws, hex.EncodeToString(sum[:]))
}

func (w *Workspaces) saveDigest(ctx context.Context, ws, digest string) error {
	_, err := w.ddb.UpdateItem(ctx, &dynamodb.UpdateItemInput{ // want:W
		TableName:        w.table,
		Key:              rowKey(ws),
		UpdateExpression: aws.String("SET Digest = :d"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":d": &types.AttributeValueMemberS{Value: digest},
		},
	})
	return err
}
