package ub08

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Aggregator folds a stream's shards into per-shard totals. Which worker folds
// which shard is in the lease table.
type Aggregator struct {
	ddb    *dynamodb.Client
	worker string
	leases string
	totals string
}

func New(ddb *dynamodb.Client, leases, totals string) (*Aggregator, error) {
	h, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	return &Aggregator{ddb: ddb, worker: fmt.Sprintf("%s-%d", h, os.Getpid()), leases: leases, totals: totals}, nil
}

func str(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func (a *Aggregator) owns(ctx context.Context, shard string) (bool, error) {
	out, err := a.ddb.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      aws.String(a.leases),
		Key:            map[string]types.AttributeValue{"shard": str(shard)},
		ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return false, fmt.Errorf("lease of %s: %w", shard, err)
	}
	owner, ok := out.Item["leaseOwner"].(*types.AttributeValueMemberS)
	return ok && owner.Value == a.worker, nil
}

// Flush stores what was folded in memory since the last flush.
func (a *Aggregator) Flush(ctx context.Context, shard string, sum int64, minutes map[string]int64) error {
	mine, err := a.owns(ctx, shard)
	if err != nil {
		return err
	}
	if !mine {
		return nil
	}
	item := map[string]types.AttributeValue{
		"shard": str(shard),
		"sum":   &types.AttributeValueMemberN{Value: strconv.FormatInt(sum, 10)},
	}
	for m, n := range minutes {
		item["m"+m] = &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
	}
	_, err = a.ddb.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(a.totals), Item: item}) // want:C
	return err
}
