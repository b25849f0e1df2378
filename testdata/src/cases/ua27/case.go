// Package ua27 runs report jobs on spot instances.
package ua27

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

var ErrBusy = errors.New("report is being made")

type Table struct {
	cl       *dynamodb.Client
	name     string
	instance string
}

func num(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// Acquire writes this instance into the report's item.
func (t *Table) Acquire(ctx context.Context, report string, d time.Duration) error {
	now := time.Now()
	_, err := t.cl.UpdateItem(ctx, &dynamodb.UpdateItemInput{ // want:T
		TableName: aws.String(t.name),
		Key: map[string]types.AttributeValue{
			"report": &types.AttributeValueMemberS{Value: report},
		},
		UpdateExpression:    aws.String("SET #o = :me, lease_ends = :end"),
		ConditionExpression: aws.String("attribute_not_exists(#o) OR lease_ends < :now"),
		ExpressionAttributeNames: map[string]string{
			"#o": "owner",
		},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":me":  &types.AttributeValueMemberS{Value: t.instance},
			":end": num(now.Add(d).UnixMilli()),
			":now": num(now.UnixMilli()),
		},
	})
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		return ErrBusy
	}
	if err != nil {
		return fmt.Errorf("acquire %s: %w", report, err)
	}
	return nil
}
