package hn48

import (
	"context"
	"errors"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

type Shards struct {
	ddb   *dynamodb.Client
	table string
	me    string
}

func New(c *dynamodb.Client, table string) *Shards {
	h, _ := os.Hostname()
	return &Shards{c, table, h}
}

var errNotMine = errors.New("shard belongs to another worker")

func (s *Shards) key(id string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"shard": &types.AttributeValueMemberS{Value: id}}
}

// Checkpoint compares in Go and again in the condition.
func (s *Shards) Checkpoint(ctx context.Context, id, seq string) error {
	out, err := s.ddb.GetItem(ctx, &dynamodb.GetItemInput{TableName: &s.table, Key: s.key(id)})
	if err != nil {
		return err
	}
	if o, ok := out.Item["owner"].(*types.AttributeValueMemberS); !ok || o.Value != s.me {
		return errNotMine
	}
	e, err := expression.NewBuilder().
		WithUpdate(expression.Set(expression.Name("seq"), expression.Value(seq))).
		WithCondition(expression.Equal(expression.Name("owner"), expression.Value(s.me))).Build()
	if err != nil {
		return err
	}
	_, err = s.ddb.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: s.key(id), UpdateExpression: e.Update(), ConditionExpression: e.Condition(),
		ExpressionAttributeNames: e.Names(), ExpressionAttributeValues: e.Values(),
	})
	return err
}

// Lock creates under attribute_not_exists after a first look.
func (s *Shards) Lock(ctx context.Context, id string) (bool, error) {
	out, err := s.ddb.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("locks"), Key: s.key(id)})
	if err != nil || len(out.Item) > 0 {
		return false, err
	}
	_, err = s.ddb.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{
		Put: &types.Put{TableName: aws.String("locks"), Item: s.key(id), ConditionExpression: aws.String("attribute_not_exists(shard)")},
	}}})
	return err == nil, err
}
