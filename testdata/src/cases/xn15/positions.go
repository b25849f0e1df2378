package xn15

import (
	"context"
	"errors"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

var ErrFenced = errors.New("a newer generation has written the position")

// Positions belong to the group member with the highest generation.
type Positions struct {
	cl    *dynamodb.Client
	table string
	gen   int64
}

const notNewer = "attribute_not_exists(gen) OR gen <= :gen"

func str(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func num(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func (p *Positions) Advance(ctx context.Context, part, offset string) error {
	in := &dynamodb.UpdateItemInput{
		TableName:        aws.String(p.table),
		Key:              map[string]types.AttributeValue{"part": str(part)},
		UpdateExpression: aws.String("SET pos = :pos, gen = :gen"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":pos": str(offset), ":gen": num(p.gen),
		},
	}
	in.ConditionExpression = aws.String(notNewer)
	_, err := p.cl.UpdateItem(ctx, in)
	return fenced(err)
}

// Reset replaces the whole item.
func (p *Positions) Reset(ctx context.Context, part, offset string) error {
	_, err := p.cl.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:                 aws.String(p.table),
		Item:                      map[string]types.AttributeValue{"part": str(part), "pos": str(offset), "gen": num(p.gen)},
		ConditionExpression:       aws.String(notNewer),
		ExpressionAttributeValues: map[string]types.AttributeValue{":gen": num(p.gen)},
	})
	return fenced(err)
}

func (p *Positions) Forget(ctx context.Context, part string) error {
	_, err := p.cl.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName:                 aws.String(p.table),
		Key:                       map[string]types.AttributeValue{"part": str(part)},
		ConditionExpression:       aws.String("gen <= :gen"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":gen": num(p.gen)},
	})
	return fenced(err)
}

func fenced(err error) error {
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		return ErrFenced
	}
	return err
}
