package ht04

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

type DynamoLock struct {
	ddb   *dynamodb.Client
	table string
	id    string
}

func num(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// TryLock takes the item if it is absent or its time is over.
func (l *DynamoLock) TryLock(ctx context.Context, name string, ttl time.Duration) (bool, error) {
	now := time.Now().Unix()
	_, err := l.ddb.PutItem(ctx, &dynamodb.PutItemInput{ // want:T
		TableName: aws.String(l.table),
		Item: map[string]types.AttributeValue{
			"LockName":  &types.AttributeValueMemberS{Value: name},
			"Owner":     &types.AttributeValueMemberS{Value: l.id},
			"ExpiresAt": num(now + int64(ttl/time.Second)),
		},
		ConditionExpression:       aws.String("attribute_not_exists(LockName) OR ExpiresAt < :now"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":now": num(now)},
	})
	var cond *types.ConditionalCheckFailedException
	if errors.As(err, &cond) {
		return false, nil
	}
	return err == nil, err
}
