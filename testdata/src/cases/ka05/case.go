// Package ka05 locks deployment environments in DynamoDB.
package ka05

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

var ErrLocked = errors.New("environment is locked")

type EnvLocks struct {
	ddb   *dynamodb.Client
	table string
	owner string
}

func NewEnvLocks(ddb *dynamodb.Client, table string) (*EnvLocks, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	return &EnvLocks{ddb: ddb, table: table, owner: host + "/" + uuid.NewString()}, nil
}

func (e *EnvLocks) key(env string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"env": &types.AttributeValueMemberS{Value: env}}
}

func (e *EnvLocks) holder(ctx context.Context, env string) (string, error) {
	out, err := e.ddb.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(e.table), Key: e.key(env), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return "", fmt.Errorf("read lock of %s: %w", env, err)
	}
	if v, ok := out.Item["lock_owner"].(*types.AttributeValueMemberS); ok {
		return v.Value, nil
	}
	return "", nil
}

// Lock looks whether anybody holds the environment and then takes it.
func (e *EnvLocks) Lock(ctx context.Context, env string) error {
	h, err := e.holder(ctx, env)
	if err != nil {
		return err
	}
	if h != "" {
		return fmt.Errorf("%w by %s", ErrLocked, h)
	}
	item := e.key(env)
	item["lock_owner"] = &types.AttributeValueMemberS{Value: e.owner}
	_, err = e.ddb.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(e.table), Item: item}) // want:C
	return err
}

func (e *EnvLocks) Unlock(ctx context.Context, env string) error {
	h, err := e.holder(ctx, env)
	if err != nil {
		return err
	}
	if h != e.owner {
		return nil
	}
	_, err = e.ddb.DeleteItem(ctx, &dynamodb.DeleteItemInput{ // want:C
		TableName: aws.String(e.table),
		Key:       e.key(env),
	})
	return err
}
