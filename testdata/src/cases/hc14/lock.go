package hc14

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

type lockItem struct {
	LockID  string    `dynamodbav:"LockID"`
	Holder  string    `dynamodbav:"Holder"`
	Created time.Time `dynamodbav:"Created"`
}

var ErrLocked = errors.New("deployment is locked")

type Deployments struct {
	db    *dynamodb.Client
	table *string
	self  string
}

func (d *Deployments) key(name string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"LockID": &types.AttributeValueMemberS{Value: name}}
}

// Lock looks first and creates afterwards.
func (d *Deployments) Lock(ctx context.Context, name string) error {
	out, err := d.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: d.table, Key: d.key(name), ConsistentRead: aws.Bool(true)})
	if err != nil {
		return err
	}
	if out.Item != nil {
		return ErrLocked
	}
	item, err := attributevalue.MarshalMap(lockItem{LockID: name, Holder: d.self, Created: time.Now()})
	if err != nil {
		return err
	}
	_, err = d.db.PutItem(ctx, &dynamodb.PutItemInput{TableName: d.table, Item: item}) // want:C
	return err
}

func (d *Deployments) Unlock(ctx context.Context, name string) error {
	_, err := d.db.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName:                 d.table,
		Key:                       d.key(name),
		ConditionExpression:       aws.String("Holder = :me"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":me": &types.AttributeValueMemberS{Value: d.self}},
	})
	return err
}
