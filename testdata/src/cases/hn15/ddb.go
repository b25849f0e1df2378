package hn15

import (
	"context"
	"errors"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

type Doc struct {
	Key     string
	Body    string
	Version int64
}

type Docs struct {
	ddb   *dynamodb.Client
	table string
	etcd  *clientv3.Client
}

var ErrConflict = errors.New("version conflict")

func (d *Docs) Update(ctx context.Context, doc Doc) error {
	s, err := concurrency.NewSession(d.etcd)
	if err != nil {
		return err
	}
	defer s.Close()
	m := concurrency.NewMutex(s, "docs/"+doc.Key)
	if err := m.TryLock(ctx); err != nil {
		return err
	}
	defer m.Unlock(ctx)
	item := map[string]types.AttributeValue{
		"pk":      &types.AttributeValueMemberS{Value: doc.Key},
		"body":    &types.AttributeValueMemberS{Value: doc.Body},
		"version": &types.AttributeValueMemberN{Value: strconv.FormatInt(doc.Version+1, 10)},
	}
	_, err = d.ddb.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:                &d.table,
		Item:                     item,
		ConditionExpression:      aws.String("attribute_not_exists(pk) OR #v = :v"),
		ExpressionAttributeNames: map[string]string{"#v": "version"},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":v": &types.AttributeValueMemberN{Value: strconv.FormatInt(doc.Version, 10)},
		},
	})
	var c *types.ConditionalCheckFailedException
	if errors.As(err, &c) {
		return ErrConflict
	}
	return err
}
