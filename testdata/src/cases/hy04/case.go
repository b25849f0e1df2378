package hy04

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Table is a lock table for scheduled lambdas.
type Table struct {
	api  *dynamodb.Client
	name string
}

var ErrLocked = errors.New("locked")

func num(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func str(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// Acquire succeeds when there is no item or when the item has run out.
func (t *Table) Acquire(ctx context.Context, lockName, owner string, ttl time.Duration) error {
	now := time.Now()
	_, err := t.api.PutItem(ctx, &dynamodb.PutItemInput{ // want:T
		TableName: aws.String(t.name),
		Item: map[string]types.AttributeValue{
			"lock_name":  str(lockName),
			"owner":      str(owner),
			"expires_at": num(now.Add(ttl).Unix()),
		},
		ConditionExpression: aws.String("attribute_not_exists(lock_name) OR expires_at < :now"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":now": num(now.Unix()),
		},
	})
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		return ErrLocked
	}
	return err
}

// Release removes the item only if owner still has it.
func (t *Table) Release(ctx context.Context, lockName, owner string) error {
	_, err := t.api.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName:                 aws.String(t.name),
		Key:                       map[string]types.AttributeValue{"lock_name": str(lockName)},
		ConditionExpression:       aws.String("#o = :me"),
		ExpressionAttributeNames:  map[string]string{"#o": "owner"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":me": str(owner)},
	})
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		return nil
	}
	return err
}
