package uw18

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

var ErrTaken = errors.New("shard belongs to another worker")

// Shards records how far every shard of a stream has been read.
type Shards struct {
	cl    *dynamodb.Client
	table string
}

func key(shard string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"ShardID": &types.AttributeValueMemberS{Value: shard}}
}

// Claim creates the row, once.
func (s *Shards) Claim(ctx context.Context, shard, worker string) error {
	item := key(shard)
	item["Owner"] = &types.AttributeValueMemberS{Value: worker}
	_, err := s.cl.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:           aws.String(s.table),
		Item:                item,
		ConditionExpression: aws.String("attribute_not_exists(ShardID)"),
	})
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		return ErrTaken
	}
	return err
}

// Checkpoint moves the position of a shard, also for a worker that has lost it.
func (s *Shards) Checkpoint(ctx context.Context, shard, seq string) error {
	upd := expression.Set(expression.Name("Checkpoint"), expression.Value(seq)).
		Add(expression.Name("Commits"), expression.Value(1))
	ex, err := expression.NewBuilder().WithUpdate(upd).Build()
	if err != nil {
		return err
	}
	_, err = s.cl.UpdateItem(ctx, &dynamodb.UpdateItemInput{ // want:W|L
		TableName:                 aws.String(s.table),
		Key:                       key(shard),
		UpdateExpression:          ex.Update(),
		ExpressionAttributeNames:  ex.Names(),
		ExpressionAttributeValues: ex.Values(),
	})
	return err
}

// Finish forgets a shard that was split.
func (s *Shards) Finish(ctx context.Context, shard string) error {
	in := &dynamodb.DeleteItemInput{TableName: aws.String(s.table), Key: key(shard)}
	_, err := s.cl.DeleteItem(ctx, in) // want:W|L
	return err
}
