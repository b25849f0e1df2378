package ub21

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
)

// Lock is an item that several Lambdas fight for.
type Lock struct {
	ddb   *dynamodb.Client
	table string
	name  string
	owner string
}

var ErrTaken = errors.New("lock is taken")

func New(ddb *dynamodb.Client, table, name string) *Lock {
	return &Lock{ddb: ddb, table: table, name: name, owner: uuid.NewString()}
}

func num(t time.Time) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(t.Unix(), 10)}
}

func (l *Lock) Acquire(ctx context.Context, ttl time.Duration) error {
	now := time.Now()
	_, err := l.ddb.PutItem(ctx, &dynamodb.PutItemInput{ // want:T
		TableName: aws.String(l.table),
		Item: map[string]types.AttributeValue{
			"LockName":  &types.AttributeValueMemberS{Value: l.name},
			"Owner":     &types.AttributeValueMemberS{Value: l.owner},
			"ExpiresAt": num(now.Add(ttl)),
		},
		ConditionExpression: aws.String("attribute_not_exists(LockName) OR ExpiresAt < :now"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":now": num(now),
		},
	})
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		return ErrTaken
	}
	if err != nil {
		return fmt.Errorf("acquire %s: %w", l.name, err)
	}
	return nil
}

func (l *Lock) Release(ctx context.Context) error {
	_, err := l.ddb.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName:           aws.String(l.table),
		Key:                 map[string]types.AttributeValue{"LockName": &types.AttributeValueMemberS{Value: l.name}},
		ConditionExpression: aws.String("#o = :me"),
		ExpressionAttributeNames: map[string]string{
			"#o": "Owner",
		},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":me": &types.AttributeValueMemberS{Value: l.owner},
		},
	})
	return err
}
