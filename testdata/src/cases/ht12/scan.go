package ht12

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

type Leases struct {
	cl     *dynamodb.Client
	table  string
	worker string
}

// Evict takes a shard over whose lease timeout has passed.
func (l *Leases) Evict(ctx context.Context, shard, oldWorker string) error {
	now := time.Now().UTC()
	cond := expression.Name("AssignedTo").Equal(expression.Value(oldWorker)).
		And(expression.Name("LeaseTimeout").LessThan(expression.Value(now.Unix()))) // want:T
	upd := expression.Set(expression.Name("AssignedTo"), expression.Value(l.worker)).
		Set(expression.Name("LeaseTimeout"), expression.Value(now.Add(time.Minute).Unix()))
	ex, err := expression.NewBuilder().WithCondition(cond).WithUpdate(upd).Build()
	if err != nil {
		return err
	}
	_, err = l.cl.UpdateItem(ctx, &dynamodb.UpdateItemInput{ // may:T
		TableName:                 aws.String(l.table),
		Key:                       map[string]types.AttributeValue{"ShardID": &types.AttributeValueMemberS{Value: shard}},
		ConditionExpression:       ex.Condition(),
		UpdateExpression:          ex.Update(),
		ExpressionAttributeNames:  ex.Names(),
		ExpressionAttributeValues: ex.Values(),
	})
	return err
}
