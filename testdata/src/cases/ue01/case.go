package ue01

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
)

var (
	ErrShardTaken = errors.New("shard is assigned to another worker")
	ErrNoLease    = errors.New("no lease row for shard")
)

// ShardTable keeps one row per stream shard: who consumes it and how far.
type ShardTable struct {
	api    *dynamodb.Client
	table  string
	worker string
}

func NewShardTable(api *dynamodb.Client, table string) (*ShardTable, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("hostname: %w", err)
	}
	return &ShardTable{api: api, table: table, worker: host + "/" + uuid.NewString()}, nil
}

func (t *ShardTable) pk(shard string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"ShardID": &types.AttributeValueMemberS{Value: shard}}
}

// Claim takes a shard nobody consumes.
func (t *ShardTable) Claim(ctx context.Context, shard string) error {
	_, err := t.api.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String(t.table),
		Item: map[string]types.AttributeValue{
			"ShardID":    &types.AttributeValueMemberS{Value: shard},
			"AssignedTo": &types.AttributeValueMemberS{Value: t.worker},
		},
		ConditionExpression: aws.String("attribute_not_exists(AssignedTo)"),
	})
	var taken *types.ConditionalCheckFailedException
	if errors.As(err, &taken) {
		return ErrShardTaken
	}
	return err
}

func (t *ShardTable) assignee(ctx context.Context, shard string) (string, error) {
	out, err := t.api.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(t.table), Key: t.pk(shard), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return "", err
	}
	v, ok := out.Item["AssignedTo"].(*types.AttributeValueMemberS)
	if !ok {
		return "", ErrNoLease
	}
	return v.Value, nil
}

// Checkpoint records the last sequence number that was processed.
func (t *ShardTable) Checkpoint(ctx context.Context, shard, seq string) error {
	who, err := t.assignee(ctx, shard)
	if err != nil {
		return err
	}
	if who != t.worker {
		return ErrShardTaken
	}
	_, err = t.api.UpdateItem(ctx, &dynamodb.UpdateItemInput{ // want:C|L
		TableName:        aws.String(t.table),
		Key:              t.pk(shard),
		UpdateExpression: aws.String("SET Checkpoint = :seq"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":seq": &types.AttributeValueMemberS{Value: seq},
		},
	})
	return err
}

// Release gives the shard back when the worker shuts down.
func (t *ShardTable) Release(ctx context.Context, shard string) error {
	who, err := t.assignee(ctx, shard)
	if err != nil {
		return err
	}
	if who == t.worker {
		_, err = t.api.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String(t.table), Key: t.pk(shard)}) // want:C
	}
	return err
}
