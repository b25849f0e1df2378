// Package un22 is a lock in a table without a clock: contenders wait until they
// have seen the same record version for its whole duration.
package un22

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
)

var ErrHeld = errors.New("lock is held")

type record struct {
	owner    string
	version  string
	duration time.Duration
}

type sighting struct {
	version string
	at      time.Time
}

type Locker struct {
	cl    *dynamodb.Client
	table string
	owner string
	ttl   time.Duration
	seen  map[string]sighting
}

func str(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func (l *Locker) load(ctx context.Context, name string) (*record, error) {
	out, err := l.cl.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(l.table), ConsistentRead: aws.Bool(true),
		Key: map[string]types.AttributeValue{"name": str(name)},
	})
	if err != nil || out.Item == nil {
		return nil, err
	}
	var r record
	if v, ok := out.Item["owner"].(*types.AttributeValueMemberS); ok {
		r.owner = v.Value
	}
	if v, ok := out.Item["version"].(*types.AttributeValueMemberS); ok {
		r.version = v.Value
	}
	if v, ok := out.Item["ms"].(*types.AttributeValueMemberN); ok {
		ms, err := strconv.ParseInt(v.Value, 10, 64)
		if err != nil {
			return nil, err
		}
		r.duration = time.Duration(ms) * time.Millisecond
	}
	return &r, nil
}

// runOut counts from when this process saw the version for the first time.
func (l *Locker) runOut(name string, r *record) bool {
	s, ok := l.seen[name]
	if !ok || s.version != r.version {
		l.seen[name] = sighting{version: r.version, at: time.Now()}
		return false
	}
	return time.Since(s.at) > r.duration
}

// Try takes the lock if it is free or its holder is silent; it returns the
// version that must accompany what the holder does.
func (l *Locker) Try(ctx context.Context, name string) (version string, err error) {
	cur, err := l.load(ctx, name)
	if err != nil {
		return "", fmt.Errorf("lock %s: %w", name, err)
	}
	version = uuid.NewString()
	in := &dynamodb.PutItemInput{
		TableName: aws.String(l.table),
		Item: map[string]types.AttributeValue{
			"name": str(name), "owner": str(l.owner), "version": str(version),
			"ms": &types.AttributeValueMemberN{Value: strconv.FormatInt(l.ttl.Milliseconds(), 10)},
		},
		ExpressionAttributeNames: map[string]string{"#n": "name"},
		ConditionExpression:      aws.String("attribute_not_exists(#n)"),
	}
	if cur != nil {
		if !l.runOut(name, cur) {
			return "", ErrHeld
		}
		in.ConditionExpression = aws.String("#v = :seen")
		in.ExpressionAttributeNames = map[string]string{"#v": "version"}
		in.ExpressionAttributeValues = map[string]types.AttributeValue{":seen": str(cur.version)}
	}
	_, err = l.cl.PutItem(ctx, in)
	var lost *types.ConditionalCheckFailedException
	if errors.As(err, &lost) {
		return "", ErrHeld
	}
	return version, err
}

// Release removes the record that Try has written.
func (l *Locker) Release(ctx context.Context, name, version string) error {
	_, err := l.cl.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName:                 aws.String(l.table),
		Key:                       map[string]types.AttributeValue{"name": str(name)},
		ConditionExpression:       aws.String("#v = :mine"),
		ExpressionAttributeNames:  map[string]string{"#v": "version"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":mine": str(version)},
	})
	return err
}
