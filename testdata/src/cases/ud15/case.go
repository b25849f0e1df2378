package ud15

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Lock is the HA lock record of a secret store's table backend.
type Lock struct {
	db       *dynamodb.Client
	table    string
	key      string
	identity string
	ttl      time.Duration
}

func str(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func num(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// tryWrite takes the record when it is absent, ours or run out.
func (l *Lock) tryWrite(ctx context.Context) (bool, error) { // may:R
	now := time.Now()
	_, err := l.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{ // want:T
		TableName:           aws.String(l.table),
		Key:                 map[string]types.AttributeValue{"Path": str("lock"), "Key": str(l.key)},
		UpdateExpression:    aws.String("SET #identity = :identity, #expires = :expires"),
		ConditionExpression: aws.String("attribute_not_exists(#identity) OR #identity = :identity OR #expires <= :now"),
		ExpressionAttributeNames: map[string]string{
			"#identity": "Identity",
			"#expires":  "Expires",
		},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":identity": str(l.identity),
			":now":      num(now.UnixNano()),
			":expires":  num(now.Add(l.ttl).UnixNano()),
		},
	})
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		return false, nil
	}
	return err == nil, err
}

// Acquire tries until it holds the record or stop is closed.
func (l *Lock) Acquire(ctx context.Context, stop <-chan struct{}) (bool, error) {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		ok, err := l.tryWrite(ctx)
		if err != nil || ok {
			return ok, err
		}
		select {
		case <-stop:
			return false, nil
		case <-t.C:
		}
	}
}
