package hx10

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
)

// StateLock guards a deployment. One item per stack in the lock table.
type StateLock struct {
	ddb   *dynamodb.Client
	table string
	id    string
}

func New(ddb *dynamodb.Client, table string) *StateLock {
	return &StateLock{ddb: ddb, table: table, id: uuid.NewString()}
}

func (l *StateLock) key(stack string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"Stack": &types.AttributeValueMemberS{Value: stack}}
}

func (l *StateLock) holder(ctx context.Context, stack string) (string, error) {
	out, err := l.ddb.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      aws.String(l.table),
		Key:            l.key(stack),
		ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return "", fmt.Errorf("read lock: %w", err)
	}
	if v, ok := out.Item["LockID"].(*types.AttributeValueMemberS); ok {
		return v.Value, nil
	}
	return "", nil
}

// Lock fails when the stack is locked by somebody else.
func (l *StateLock) Lock(ctx context.Context, stack string) error {
	cur, err := l.holder(ctx, stack)
	if err != nil {
		return err
	}
	if cur != "" && cur != l.id {
		return fmt.Errorf("stack %s is locked by %s", stack, cur)
	}
	host, _ := os.Hostname()
	item := l.key(stack)
	item["LockID"] = &types.AttributeValueMemberS{Value: l.id}
	item["Who"] = &types.AttributeValueMemberS{Value: host}
	item["Created"] = &types.AttributeValueMemberS{Value: time.Now().UTC().Format(time.RFC3339)}
	_, err = l.ddb.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(l.table), Item: item}) // want:C|W
	return err
}

// Unlock removes the item if it is ours.
func (l *StateLock) Unlock(ctx context.Context, stack string) error {
	cur, err := l.holder(ctx, stack)
	if err != nil {
		return err
	}
	if cur != l.id {
		return fmt.Errorf("lock on %s belongs to %q", stack, cur)
	}
	_, err = l.ddb.DeleteItem(ctx, &dynamodb.DeleteItemInput{ // want:C|W
		TableName: aws.String(l.table),
		Key:       l.key(stack),
	})
	return err
}
