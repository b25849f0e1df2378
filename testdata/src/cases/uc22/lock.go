package uc22

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Mutex is a lock item with an expiry, for deploy pipelines.
type Mutex struct {
	db    *dynamodb.Client
	table string
	build string // the CI build that holds it
}

func num(n int64) ddb.AttributeValue {
	return &ddb.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func str(s string) ddb.AttributeValue { return &ddb.AttributeValueMemberS{Value: s} }

// TryLock creates the item, or replaces one that has run out by this host's clock.
func (m *Mutex) TryLock(ctx context.Context, env string, ttl time.Duration) (bool, error) {
	now := time.Now()
	_, err := m.db.PutItem(ctx, &dynamodb.PutItemInput{ // want:T
		TableName: aws.String(m.table),
		Item: map[string]ddb.AttributeValue{
			"lock_id":    str("deploy/" + env),
			"holder":     str(m.build),
			"expires_at": num(now.Add(ttl).Unix()),
		},
		ConditionExpression: aws.String("attribute_not_exists(lock_id) OR expires_at < :now"),
		ExpressionAttributeValues: map[string]ddb.AttributeValue{
			":now": num(now.Unix()),
		},
	})
	var refused *ddb.ConditionalCheckFailedException
	if errors.As(err, &refused) {
		return false, nil
	}
	return err == nil, err
}

func (m *Mutex) Unlock(ctx context.Context, env string) error {
	_, err := m.db.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName:                 aws.String(m.table),
		Key:                       map[string]ddb.AttributeValue{"lock_id": str("deploy/" + env)},
		ConditionExpression:       aws.String("holder = :h"),
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":h": str(m.build)},
	})
	return err
}
