// Package kb01 shares the partitions of a change stream among workers.
package kb01

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

type Partitions struct {
	ddb    *dynamodb.Client
	table  string
	worker string
	ttl    time.Duration
}

var ErrTaken = errors.New("partition is leased to another worker")

func num(v int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(v, 10)}
}

// Take claims a partition that is free or whose lease has run out.
func (p *Partitions) Take(ctx context.Context, partition string) error {
	now := time.Now()
	_, err := p.ddb.UpdateItem(ctx, &dynamodb.UpdateItemInput{ // want:T
		TableName:           aws.String(p.table),
		Key:                 map[string]types.AttributeValue{"partition": &types.AttributeValueMemberS{Value: partition}},
		UpdateExpression:    aws.String("SET lease_owner = :me, lease_expires = :until ADD lease_counter :one"),
		ConditionExpression: aws.String("attribute_not_exists(lease_owner) OR lease_expires < :now"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":me":    &types.AttributeValueMemberS{Value: p.worker},
			":until": num(now.Add(p.ttl).UnixMilli()),
			":now":   num(now.UnixMilli()),
			":one":   num(1),
		},
	})
	var cond *types.ConditionalCheckFailedException
	if errors.As(err, &cond) {
		return ErrTaken
	}
	if err != nil {
		return fmt.Errorf("take %s: %w", partition, err)
	}
	return nil
}

func (p *Partitions) GiveBack(ctx context.Context, partition string) error {
	_, err := p.ddb.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 aws.String(p.table),
		Key:                       map[string]types.AttributeValue{"partition": &types.AttributeValueMemberS{Value: partition}},
		UpdateExpression:          aws.String("REMOVE lease_owner, lease_expires"),
		ConditionExpression:       aws.String("lease_owner = :me"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":me": &types.AttributeValueMemberS{Value: p.worker}},
	})
	return err
}
