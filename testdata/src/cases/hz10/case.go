package hz10

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Tickets are password reset codes and magic links. DynamoDB deletes expired
// items late, so reads filter on the TTL attribute.
type Tickets struct {
	api   *dynamodb.Client
	table string
}

var ErrInvalid = errors.New("code is unknown, used or expired")

func (t *Tickets) Open(ctx context.Context, user string) ([]string, error) {
	expr, err := expression.NewBuilder().
		WithKeyCondition(expression.Key("user").Equal(expression.Value(user))).
		WithFilter(expression.Name("expires_at").GreaterThan(expression.Value(time.Now().Unix()))).
		Build()
	if err != nil {
		return nil, err
	}
	out, err := t.api.Query(ctx, &dynamodb.QueryInput{
		TableName:                 &t.table,
		KeyConditionExpression:    expr.KeyCondition(),
		FilterExpression:          expr.Filter(),
		ExpressionAttributeNames:  expr.Names(),
		ExpressionAttributeValues: expr.Values(),
	})
	if err != nil {
		return nil, err
	}
	var codes []string
	for _, it := range out.Items {
		if v, ok := it["code"].(*types.AttributeValueMemberS); ok {
			codes = append(codes, v.Value)
		}
	}
	return codes, nil
}

// Redeem marks a code as used, once.
func (t *Tickets) Redeem(ctx context.Context, user, code string) error {
	_, err := t.api.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &t.table,
		Key: map[string]types.AttributeValue{
			"user": &types.AttributeValueMemberS{Value: user},
			"code": &types.AttributeValueMemberS{Value: code},
		},
		UpdateExpression:    aws.String("SET used = :t"),
		ConditionExpression: aws.String("attribute_exists(code) AND attribute_not_exists(used) AND expires_at > :now"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":t":   &types.AttributeValueMemberBOOL{Value: true},
			":now": &types.AttributeValueMemberN{Value: strconv.FormatInt(time.Now().Unix(), 10)},
		},
	})
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		return ErrInvalid
	}
	return err
}
