package vn13

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// A lease is free when its counter has not moved for a while as seen by this
// process; every write repeats the counter.
type lease struct {
	Shard   string `dynamodbav:"shard"`
	Owner   string `dynamodbav:"leaseOwner"`
	Counter int64  `dynamodbav:"leaseCounter"`
}

type sighting struct {
	counter int64
	at      time.Time
}

type Leases struct {
	ddb   *dynamodb.Client
	table string
	me    string
	after time.Duration

	mu   sync.Mutex
	seen map[string]sighting
}

var ErrLost = errors.New("lease lost")

func n(i int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(i, 10)}
}

func (l *Leases) idle(ls lease) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, ok := l.seen[ls.Shard]
	if !ok || s.counter != ls.Counter {
		l.seen[ls.Shard] = sighting{ls.Counter, time.Now()}
		return false
	}
	return time.Since(s.at) > l.after
}

func (l *Leases) update(ctx context.Context, ls *lease, expr string, extra map[string]types.AttributeValue) error {
	vals := map[string]types.AttributeValue{
		":me": &types.AttributeValueMemberS{Value: l.me}, ":old": n(ls.Counter), ":next": n(ls.Counter + 1),
	}
	for k, v := range extra {
		vals[k] = v
	}
	_, err := l.ddb.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 aws.String(l.table),
		Key:                       map[string]types.AttributeValue{"shard": &types.AttributeValueMemberS{Value: ls.Shard}},
		UpdateExpression:          aws.String("SET leaseOwner = :me, leaseCounter = :next" + expr),
		ConditionExpression:       aws.String("leaseCounter = :old"),
		ExpressionAttributeValues: vals,
	})
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		return ErrLost
	}
	if err == nil {
		ls.Counter, ls.Owner = ls.Counter+1, l.me
	}
	return err
}

// Checkpoint stores the position together with a renewal.
func (l *Leases) Checkpoint(ctx context.Context, ls *lease, seq string) error {
	return l.update(ctx, ls, ", checkpoint = :seq", map[string]types.AttributeValue{
		":seq": &types.AttributeValueMemberS{Value: seq},
	})
}

func (l *Leases) Take(ctx context.Context) (*lease, error) {
	out, err := l.ddb.Scan(ctx, &dynamodb.ScanInput{TableName: aws.String(l.table), ConsistentRead: aws.Bool(true)})
	if err != nil {
		return nil, err
	}
	var all []lease
	if err := attributevalue.UnmarshalListOfMaps(out.Items, &all); err != nil {
		return nil, err
	}
	for _, ls := range all {
		if !l.idle(ls) {
			continue
		}
		switch err := l.update(ctx, &ls, "", nil); {
		case err == nil:
			return &ls, nil
		case !errors.Is(err, ErrLost):
			return nil, err
		}
	}
	return nil, nil
}
