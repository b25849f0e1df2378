// Package hz14 takes over leases without trusting anybody's clock: a lease is
// dead when its version did not change for a full duration while we watched.
package hz14

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

type sighting struct {
	version int64
	since   time.Time
}

type Leases struct {
	api      *dynamodb.Client
	table    string
	me       string
	duration time.Duration
	seen     map[string]sighting
}

var ErrHeld = errors.New("lease is held")

func (l *Leases) read(ctx context.Context, key string) (owner string, version int64, err error) {
	out, err := l.api.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &l.table, ConsistentRead: aws.Bool(true),
		Key: map[string]types.AttributeValue{"leaseKey": &types.AttributeValueMemberS{Value: key}},
	})
	if err != nil {
		return "", 0, err
	}
	if v, ok := out.Item["leaseOwner"].(*types.AttributeValueMemberS); ok {
		owner = v.Value
	}
	if v, ok := out.Item["leaseCounter"].(*types.AttributeValueMemberN); ok {
		version, err = strconv.ParseInt(v.Value, 10, 64)
	}
	return owner, version, err
}

// Take is called on every round for every lease in the table.
func (l *Leases) Take(ctx context.Context, key string) (int64, error) {
	owner, version, err := l.read(ctx, key)
	if err != nil {
		return 0, err
	}
	now := time.Now()
	s, known := l.seen[key]
	if !known || s.version != version {
		s = sighting{version: version, since: now}
		l.seen[key] = s
	}
	if owner != "" && owner != l.me && now.Sub(s.since) < l.duration {
		return 0, ErrHeld
	}
	_, err = l.api.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:           &l.table,
		Key:                 map[string]types.AttributeValue{"leaseKey": &types.AttributeValueMemberS{Value: key}},
		UpdateExpression:    aws.String("SET leaseOwner = :me, leaseCounter = :next"),
		ConditionExpression: aws.String("leaseCounter = :seen OR attribute_not_exists(leaseCounter)"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":me":   &types.AttributeValueMemberS{Value: l.me},
			":seen": &types.AttributeValueMemberN{Value: strconv.FormatInt(version, 10)},
			":next": &types.AttributeValueMemberN{Value: strconv.FormatInt(version+1, 10)},
		},
	})
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		return 0, ErrHeld
	}
	return version + 1, err
}
