package uf22

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

var ErrHeld = errors.New("lock is held by another node")

// Table is a lock table with one item per lock.
type Table struct {
	api   *dynamodb.Client
	name  string
	owner string
	ttl   time.Duration
}

func num(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func str(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// Lock puts the item if there is none, or if the one there has run out by the
// clock of this node.
func (t *Table) Lock(ctx context.Context, path string) error {
	now := time.Now()
	_, err := t.api.PutItem(ctx, &dynamodb.PutItemInput{ // want:T
		TableName: aws.String(t.name),
		Item: map[string]types.AttributeValue{
			"Path":    str(path),
			"Owner":   str(t.owner),
			"Expires": num(now.Add(t.ttl).UnixNano()),
		},
		ConditionExpression:       aws.String("attribute_not_exists(#p) OR #e <= :now"),
		ExpressionAttributeNames:  map[string]string{"#p": "Path", "#e": "Expires"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":now": num(now.UnixNano())},
	})
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		return ErrHeld
	}
	if err != nil {
		return fmt.Errorf("lock %s: %w", path, err)
	}
	return nil
}

func (t *Table) Unlock(ctx context.Context, path string) error {
	_, err := t.api.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName:                 aws.String(t.name),
		Key:                       map[string]types.AttributeValue{"Path": str(path)},
		ConditionExpression:       aws.String("#o = :me"),
		ExpressionAttributeNames:  map[string]string{"#o": "Owner"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":me": str(t.owner)},
	})
	return err
}
