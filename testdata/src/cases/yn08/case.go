package yn08

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
)

var ErrLocked = errors.New("lock is held and alive")

// Client judges a foreign lock dead when its record version stays the same for
// a whole lease, counted here, by the monotonic clock.
type Client struct {
	db    *dynamodb.Client
	table string
	owner string
	lease time.Duration
	seen  map[string]sighting
}

type sighting struct {
	version string
	at      time.Time
}

func str(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func (c *Client) version(ctx context.Context, key string) (string, error) {
	out, err := c.db.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(c.table), ConsistentRead: aws.Bool(true),
		Key: map[string]types.AttributeValue{"key": str(key)},
	})
	if err != nil {
		return "", err
	}
	v, _ := out.Item["rvn"].(*types.AttributeValueMemberS)
	if v == nil {
		return "", nil
	}
	return v.Value, nil
}

// TryAcquire returns the new record version.
func (c *Client) TryAcquire(ctx context.Context, key string) (string, error) {
	cur, err := c.version(ctx, key)
	if err != nil {
		return "", err
	}
	s, known := c.seen[key]
	if cur != "" && (!known || s.version != cur) {
		c.seen[key] = sighting{version: cur, at: time.Now()}
		return "", ErrLocked
	}
	if cur != "" && time.Since(s.at) < c.lease {
		return "", ErrLocked
	}
	in := &dynamodb.PutItemInput{TableName: aws.String(c.table)}
	next := uuid.NewString()
	in.Item = map[string]types.AttributeValue{"key": str(key), "owner": str(c.owner), "rvn": str(next)}
	if cur == "" {
		in.ConditionExpression = aws.String("attribute_not_exists(rvn)")
	} else {
		in.ConditionExpression = aws.String("rvn = :rvn")
		in.ExpressionAttributeValues = map[string]types.AttributeValue{":rvn": str(cur)}
	}
	if _, err := c.db.PutItem(ctx, in); err != nil {
		return "", err
	}
	return next, nil
}

// Release deletes the record only in the version this holder wrote.
func (c *Client) Release(ctx context.Context, key, rvn string) error {
	_, err := c.db.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: aws.String(c.table), Key: map[string]types.AttributeValue{"key": str(key)},
		ConditionExpression:       aws.String("rvn = :rvn"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":rvn": str(rvn)},
	})
	return err
}
