package ue20

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

// Leases of a stream consumer: LeaseOwner and LeaseTimeout per shard, as the
// consumers of other hosts wrote them.
const (
	attrOwner   = "LeaseOwner"
	attrTimeout = "LeaseTimeout"
)

var ErrLeaseNotAcquired = errors.New("lease is already held by another worker")

type Checkpointer struct {
	svc      *dynamodb.Client
	table    string
	workerID string
	duration time.Duration
}

func num(t time.Time) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(t.Unix(), 10)}
}

func str(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }

func (c *Checkpointer) lease(ctx context.Context, shard string) (owner string, timeout time.Time, err error) {
	out, err := c.svc.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(c.table), ConsistentRead: aws.Bool(true),
		Key: map[string]types.AttributeValue{"ShardID": str(shard)},
	})
	if err != nil {
		return "", time.Time{}, err
	}
	if v, ok := out.Item[attrOwner].(*types.AttributeValueMemberS); ok {
		owner = v.Value
	}
	if v, ok := out.Item[attrTimeout].(*types.AttributeValueMemberN); ok {
		sec, err := strconv.ParseInt(v.Value, 10, 64)
		if err != nil {
			return "", time.Time{}, fmt.Errorf("%s: %w", attrTimeout, err)
		}
		timeout = time.Unix(sec, 0)
	}
	return owner, timeout, nil
}

// GetLease takes the shard if its lease is free, ours or has run out.
func (c *Checkpointer) GetLease(ctx context.Context, shard string) error {
	owner, timeout, err := c.lease(ctx, shard)
	if err != nil {
		return fmt.Errorf("shard %s: %w", shard, err)
	}
	if owner != "" && owner != c.workerID && time.Now().UTC().Before(timeout) { // want:T
		return ErrLeaseNotAcquired
	}
	in := &dynamodb.PutItemInput{
		TableName: aws.String(c.table),
		Item: map[string]types.AttributeValue{
			"ShardID":   str(shard),
			attrOwner:   str(c.workerID),
			attrTimeout: num(time.Now().Add(c.duration)), // may:T
		},
		ConditionExpression: aws.String("attribute_not_exists(LeaseOwner)"),
	}
	if owner != "" {
		in.ConditionExpression = aws.String("LeaseOwner = :o AND LeaseTimeout = :t")
		in.ExpressionAttributeValues = map[string]types.AttributeValue{
			":o": str(owner), ":t": num(timeout),
		}
	}
	_, err = c.svc.PutItem(ctx, in)
	var cond *types.ConditionalCheckFailedException
	if errors.As(err, &cond) {
		return ErrLeaseNotAcquired
	}
	return err
}

// Steal takes a shard of a worker that stopped renewing, in one request.
func (c *Checkpointer) Steal(ctx context.Context, shard string) error {
	_, err := c.svc.UpdateItem(ctx, &dynamodb.UpdateItemInput{ // want:T
		TableName:           aws.String(c.table),
		Key:                 map[string]types.AttributeValue{"ShardID": str(shard)},
		UpdateExpression:    aws.String("SET LeaseOwner = :me, LeaseTimeout = :end"),
		ConditionExpression: aws.String("LeaseTimeout < :now"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":me":  str(c.workerID),
			":end": num(time.Now().Add(c.duration)),
			":now": num(time.Now()),
		},
	})
	var cond *types.ConditionalCheckFailedException
	if errors.As(err, &cond) {
		return ErrLeaseNotAcquired
	}
	return err
}
