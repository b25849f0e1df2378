package uv07

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

var errLeaseTaken = errors.New("lease was taken")

// shardLease is this worker's copy of the row of one shard.
type shardLease struct {
	ShardID string
	Counter int64
	Seq     string
}

// LeaseTable follows the layout of the consumer library for streams.
type LeaseTable struct {
	api    *dynamodb.Client
	name   string
	worker string
	log    *slog.Logger
}

func (t *LeaseTable) key(shard string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"leaseKey": &types.AttributeValueMemberS{Value: shard}}
}

func num(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// Steal takes the lease over when its counter has not moved since it was seen.
func (t *LeaseTable) Steal(ctx context.Context, seen shardLease) (shardLease, error) {
	_, err := t.api.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:           aws.String(t.name),
		Key:                 t.key(seen.ShardID),
		UpdateExpression:    aws.String("SET leaseOwner = :me, leaseCounter = :next"),
		ConditionExpression: aws.String("leaseCounter = :seen"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":me":   &types.AttributeValueMemberS{Value: t.worker},
			":seen": num(seen.Counter),
			":next": num(seen.Counter + 1),
		},
	})
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		return seen, errLeaseTaken
	}
	seen.Counter++
	return seen, err
}

// Checkpoint stores how far the shard was read, whoever owns it by now.
func (t *LeaseTable) Checkpoint(ctx context.Context, l shardLease) error {
	start := time.Now()
	_, err := t.api.UpdateItem(ctx, &dynamodb.UpdateItemInput{ // want:W|L
		TableName:                 aws.String(t.name),
		Key:                       t.key(l.ShardID),
		UpdateExpression:          aws.String("SET checkpoint = :seq"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":seq": &types.AttributeValueMemberS{Value: l.Seq}},
	})
	t.log.Debug("checkpoint", "shard", l.ShardID, "took", time.Since(start))
	return err
}
