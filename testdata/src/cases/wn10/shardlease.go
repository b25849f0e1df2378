package wn10

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

var ErrLeaseLost = errors.New("shard lease was lost")

type Lease struct {
	Shard   string
	Owner   string
	Counter int64
}

type seen struct {
	counter int64
	at      time.Time
}

// Table follows the counters of all leases: a lease counts as abandoned when
// this process has not seen its counter move for the time-out.
type Table struct {
	db      *dynamodb.Client
	name    string
	worker  string
	timeout time.Duration

	mu   sync.Mutex
	last map[string]seen
}

func (t *Table) abandoned(l Lease) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, ok := t.last[l.Shard]
	if !ok || s.counter != l.Counter {
		t.last[l.Shard] = seen{counter: l.Counter, at: time.Now()}
		return false
	}
	return time.Since(s.at) > t.timeout
}

func n(v int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(v, 10)}
}

// Take moves the lease to this worker if its counter is still the one seen.
func (t *Table) Take(ctx context.Context, l Lease) (*Lease, error) {
	if l.Owner != "" && !t.abandoned(l) {
		return nil, nil
	}
	_, err := t.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:           aws.String(t.name),
		Key:                 map[string]types.AttributeValue{"shard": &types.AttributeValueMemberS{Value: l.Shard}},
		UpdateExpression:    aws.String("SET leaseOwner = :w, leaseCounter = :new"),
		ConditionExpression: aws.String("leaseCounter = :old"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":w": &types.AttributeValueMemberS{Value: t.worker}, ":old": n(l.Counter), ":new": n(l.Counter + 1),
		},
	})
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &Lease{Shard: l.Shard, Owner: t.worker, Counter: l.Counter + 1}, nil
}

// Checkpoint stores a position while the lease is ours.
func (t *Table) Checkpoint(ctx context.Context, l *Lease, seq string) error {
	if l.Owner != t.worker {
		return ErrLeaseLost
	}
	_, err := t.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:           aws.String(t.name),
		Key:                 map[string]types.AttributeValue{"shard": &types.AttributeValueMemberS{Value: l.Shard}},
		UpdateExpression:    aws.String("SET checkpoint = :seq"),
		ConditionExpression: aws.String("leaseOwner = :w AND leaseCounter = :c"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":w": &types.AttributeValueMemberS{Value: t.worker}, ":c": n(l.Counter),
			":seq": &types.AttributeValueMemberS{Value: seq},
		},
	})
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		return fmt.Errorf("shard %s: %w", l.Shard, ErrLeaseLost)
	}
	return err
}
