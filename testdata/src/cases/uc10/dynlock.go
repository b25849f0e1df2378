package uc10

import (
	"context"
	"errors"
	"os"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

var ErrHeld = errors.New("held by another scheduler")

// TableLock keeps one item per cron entry. It looks at the item first and then
// writes its own: two schedulers can both see none.
type TableLock struct {
	db    *dynamodb.Client
	table string
	owner string
}

func NewTableLock(db *dynamodb.Client) *TableLock {
	host, _ := os.Hostname()
	return &TableLock{db: db, table: "scheduler-locks", owner: host}
}

func (l *TableLock) key(entry string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"Entry": &types.AttributeValueMemberS{Value: entry}}
}

func (l *TableLock) Acquire(ctx context.Context, entry string, ttl time.Duration) error {
	out, err := l.db.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(l.table), Key: l.key(entry), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return err
	}
	if v, ok := out.Item["ExpiresAt"].(*types.AttributeValueMemberN); ok {
		until, err := strconv.ParseInt(v.Value, 10, 64)
		if err != nil {
			return err
		}
		if until > time.Now().Unix() { // want:T
			return ErrHeld
		}
	}
	_, err = l.db.PutItem(ctx, &dynamodb.PutItemInput{ // want:C // may:T
		TableName: aws.String(l.table),
		Item: map[string]types.AttributeValue{
			"Entry":     &types.AttributeValueMemberS{Value: entry},
			"Owner":     &types.AttributeValueMemberS{Value: l.owner},
			"ExpiresAt": &types.AttributeValueMemberN{Value: strconv.FormatInt(time.Now().Add(ttl).Unix(), 10)},
		},
	})
	return err
}

// Release is right: it deletes only its own item.
func (l *TableLock) Release(ctx context.Context, entry string) error {
	_, err := l.db.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName:                 aws.String(l.table),
		Key:                       l.key(entry),
		ConditionExpression:       aws.String("#o = :me"),
		ExpressionAttributeNames:  map[string]string{"#o": "Owner"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":me": &types.AttributeValueMemberS{Value: l.owner}},
	})
	var gone *types.ConditionalCheckFailedException
	if errors.As(err, &gone) {
		return nil
	}
	return err
}
