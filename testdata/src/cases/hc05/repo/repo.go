// Package repo stores offsets.
package repo

import (
	"context"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

type Offsets interface {
	Advance(ctx context.Context, stream string, to int64) error
}

type Dynamo struct {
	API   *dynamodb.Client
	Table string
}

func (d *Dynamo) Advance(ctx context.Context, stream string, to int64) error {
	_, err := d.API.UpdateItem(ctx, &dynamodb.UpdateItemInput{ // may:C
		TableName:        aws.String(d.Table),
		Key:              map[string]types.AttributeValue{"stream": &types.AttributeValueMemberS{Value: stream}},
		UpdateExpression: aws.String("SET position = :p"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":p": &types.AttributeValueMemberN{Value: strconv.FormatInt(to, 10)},
		},
	})
	return err
}
