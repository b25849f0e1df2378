package ub16

import (
	"context"
	"fmt"

	sq "github.com/Masterminds/squirrel"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

var qb = sq.StatementBuilder.PlaceholderFormat(sq.Dollar)

// underLock runs fn while name is held and hands through what it returns.
func underLock[T any](ctx context.Context, cli *clientv3.Client, name string, fn func(context.Context) (T, error)) (out T, err error) {
	sess, err := concurrency.NewSession(cli, concurrency.WithTTL(30))
	if err != nil {
		return out, err
	}
	defer sess.Close()
	mu := concurrency.NewMutex(sess, "/locks/"+name)
	if err := mu.Lock(ctx); err != nil { // may:M
		return out, fmt.Errorf("lock %s: %w", name, err)
	}
	defer func() { _ = mu.Unlock(context.WithoutCancel(ctx)) }()
	return fn(ctx) // may:C
}

// Stock moves goods between warehouses.
type Stock struct {
	etcd *clientv3.Client
	db   sq.StdSqlCtx
}

type level struct {
	onHand, reserved int64
}

func (s *Stock) level(ctx context.Context, sku string) (l level, err error) {
	err = qb.Select("on_hand", "reserved").From("stock").Where(sq.Eq{"sku": sku}).
		RunWith(s.db).ScanContext(ctx, &l.onHand, &l.reserved)
	return l, err
}

func (s *Stock) Recount(ctx context.Context, sku string, counted int64) (int64, error) {
	return underLock(ctx, s.etcd, "stock/"+sku, func(ctx context.Context) (int64, error) { // may:C
		l, err := s.level(ctx, sku)
		if err != nil {
			return 0, err
		}
		diff := counted - l.onHand
		if diff == 0 {
			return 0, nil
		}
		_, err = qb.Update("stock"). // want:C
						Set("on_hand", counted).
						Set("reserved", min(l.reserved, counted)).
						Where(sq.Eq{"sku": sku}).
						RunWith(s.db).ExecContext(ctx)
		return diff, err
	})
}
