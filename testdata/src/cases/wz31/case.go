package wz31

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

var ErrLeaseLost = errors.New("shard has a newer lease")

type values map[string]ddbtypes.AttributeValue

func str(s string) ddbtypes.AttributeValue { return &ddbtypes.AttributeValueMemberS{Value: s} }
func num(n int64) ddbtypes.AttributeValue {
	return &ddbtypes.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// Table keeps one item per shard: position, owner and lease counter.
type Table struct {
	api  *dynamodb.Client
	name string
}

type Lease struct {
	Shard   string
	Counter int64
}

func (t *Table) input(shard, expr string, vals values) *dynamodb.UpdateItemInput {
	return &dynamodb.UpdateItemInput{
		TableName:                 aws.String(t.name),
		Key:                       values{"shard": str(shard)},
		UpdateExpression:          aws.String(expr),
		ExpressionAttributeValues: vals,
	}
}

func (t *Table) Checkpoint(ctx context.Context, l Lease, pos string) error {
	in := t.input(l.Shard, "SET pos = :pos", values{":pos": str(pos), ":c": num(l.Counter)})
	in.ConditionExpression = aws.String("lease_counter = :c")
	_, err := t.api.UpdateItem(ctx, in)
	return t.failed("checkpoint", err)
}

// Finish marks the end of a shard after a split.
func (t *Table) Finish(ctx context.Context, l Lease, children []string) error {
	in := t.input(l.Shard, "SET pos = :end ADD children :ch", values{
		":end": str("SHARD_END"),
		":ch":  &ddbtypes.AttributeValueMemberSS{Value: children},
	})
	_, err := t.api.UpdateItem(ctx, in) // want:W
	return t.failed("finish", err)
}

// Drop removes the items of shards that ran out of retention, 25 at a time.
func (t *Table) Drop(ctx context.Context, shards []string) error {
	for len(shards) > 0 {
		n := min(25, len(shards))
		reqs := make([]ddbtypes.WriteRequest, n)
		for i, s := range shards[:n] {
			reqs[i] = ddbtypes.WriteRequest{DeleteRequest: &ddbtypes.DeleteRequest{Key: values{"shard": str(s)}}}
		}
		out, err := t.api.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{ // want:W
			RequestItems: map[string][]ddbtypes.WriteRequest{t.name: reqs},
		})
		if err != nil {
			return t.failed("drop", err)
		}
		if len(out.UnprocessedItems) > 0 {
			return errors.New("drop: throttled")
		}
		shards = shards[n:]
	}
	return nil
}

func (t *Table) failed(op string, err error) error {
	var cond *ddbtypes.ConditionalCheckFailedException
	switch {
	case err == nil:
		return nil
	case errors.As(err, &cond):
		return ErrLeaseLost
	}
	return fmt.Errorf("%s: %w", op, err)
}
