package pn12

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

var ErrLeaseStolen = errors.New("lease has another owner")

// Leases: the counter goes up with every renewal and takeover.
type Leases struct {
	db    *dynamodb.Client
	table string
	owner string
}

type Lease struct {
	Key     string
	Owner   string
	Counter int64
}

func (l *Leases) key(k string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"leaseKey": &types.AttributeValueMemberS{Value: k}}
}

func (l *Leases) get(ctx context.Context, k string) (*Lease, error) {
	out, err := l.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: &l.table, Key: l.key(k), ConsistentRead: aws.Bool(true)})
	if err != nil {
		return nil, err
	}
	ls := &Lease{Key: k}
	if v, ok := out.Item["leaseOwner"].(*types.AttributeValueMemberS); ok {
		ls.Owner = v.Value
	}
	if v, ok := out.Item["leaseCounter"].(*types.AttributeValueMemberN); ok {
		ls.Counter, err = strconv.ParseInt(v.Value, 10, 64)
	}
	return ls, err
}

// SaveCheckpoint stops early for a stolen lease; the condition of the update
// says the same to the table.
func (l *Leases) SaveCheckpoint(ctx context.Context, k, seq string) error {
	cur, err := l.get(ctx, k)
	if err != nil {
		return fmt.Errorf("read lease %s: %w", k, err)
	}
	if cur.Owner != l.owner {
		return ErrLeaseStolen
	}
	_, err = l.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:           &l.table,
		Key:                 l.key(k),
		UpdateExpression:    aws.String("SET checkpoint = :seq"),
		ConditionExpression: aws.String("leaseOwner = :me AND leaseCounter = :n"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":seq": &types.AttributeValueMemberS{Value: seq},
			":me":  &types.AttributeValueMemberS{Value: l.owner},
			":n":   &types.AttributeValueMemberN{Value: strconv.FormatInt(cur.Counter, 10)},
		},
	})
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		return ErrLeaseStolen
	}
	return err
}
