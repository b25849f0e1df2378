// Package ua10 consumes a sharded stream and remembers how far it got.
package ua10

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
)

var ErrNotOurs = errors.New("shard is worked elsewhere")

type Checkpointer struct {
	ddb    *dynamodb.Client
	shards string // table of assignments
	marks  string // table of positions
	worker string
}

func NewCheckpointer(ddb *dynamodb.Client, app string) (*Checkpointer, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	return &Checkpointer{ddb: ddb, shards: app + "-shards", marks: app + "-marks", worker: host + "/" + uuid.NewString()}, nil
}

// Assign gives a free shard to this worker. The balancer frees shards of
// workers it has not heard of.
func (c *Checkpointer) Assign(ctx context.Context, shard string) error {
	_, err := c.ddb.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:           aws.String(c.shards),
		Key:                 map[string]types.AttributeValue{"shard": &types.AttributeValueMemberS{Value: shard}},
		UpdateExpression:    aws.String("SET assignee = :w"),
		ConditionExpression: aws.String("attribute_not_exists(assignee)"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":w": &types.AttributeValueMemberS{Value: c.worker},
		},
	})
	var taken *types.ConditionalCheckFailedException
	if errors.As(err, &taken) {
		return ErrNotOurs
	}
	return err
}

func (c *Checkpointer) assignee(ctx context.Context, shard string) (string, error) {
	out, err := c.ddb.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      aws.String(c.shards),
		ConsistentRead: aws.Bool(true),
		Key:            map[string]types.AttributeValue{"shard": &types.AttributeValueMemberS{Value: shard}},
	})
	if err != nil {
		return "", fmt.Errorf("assignment of %s: %w", shard, err)
	}
	if v, ok := out.Item["assignee"].(*types.AttributeValueMemberS); ok {
		return v.Value, nil
	}
	return "", nil
}

// Save stores the position after a batch was handled.
func (c *Checkpointer) Save(ctx context.Context, shard string, seq uint64) error {
	who, err := c.assignee(ctx, shard)
	if err != nil {
		return err
	}
	if who != c.worker {
		return ErrNotOurs
	}
	_, err = c.ddb.UpdateItem(ctx, &dynamodb.UpdateItemInput{ // want:C
		TableName:        aws.String(c.marks),
		Key:              map[string]types.AttributeValue{"shard": &types.AttributeValueMemberS{Value: shard}},
		UpdateExpression: aws.String("SET seq = :s"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":s": &types.AttributeValueMemberN{Value: strconv.FormatUint(seq, 10)},
		},
	})
	return err
}
