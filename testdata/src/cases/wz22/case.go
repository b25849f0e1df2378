package wz22

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

var ErrCounted = errors.New("stock is counted by a newer owner")

type execFunc func(ctx context.Context, query string, args ...any) (sql.Result, error)

// mergeCount sets what a count found. Its matched branch has no condition.
const mergeCount = `
MERGE INTO warehouse.stock_levels AS t
USING (SELECT * FROM unnest($1::text[], $2::int[]) AS u(sku, qty)) AS s
ON t.sku = s.sku
WHEN MATCHED THEN
    UPDATE SET qty = s.qty
WHEN NOT MATCHED THEN
    INSERT (sku, qty) VALUES (s.sku, s.qty)`

// mergeReserve does the same for reservations, compared.
const mergeReserve = `
MERGE INTO warehouse.stock_levels AS t
USING (SELECT u.sku, u.n, $3::bigint AS fence FROM unnest($1::text[], $2::int[]) AS u(sku, n)) AS s
ON t.sku = s.sku
WHEN MATCHED AND t.fence <= s.fence THEN
    UPDATE SET reserved = s.n, fence = s.fence
WHEN NOT MATCHED THEN
    INSERT (sku, reserved, fence) VALUES (s.sku, s.n, s.fence)`

type Counter struct {
	exec  execFunc
	token int64
}

func NewCounter(tx *sql.Tx, token int64) *Counter {
	return &Counter{exec: tx.ExecContext, token: token}
}

func (c *Counter) Count(ctx context.Context, skus []string, qty []int32) error {
	res, err := c.exec(ctx, mergeCount, skus, qty) // want:W
	return all(res, err, len(skus))
}

func (c *Counter) Reserve(ctx context.Context, skus []string, n []int32) error {
	res, err := c.exec(ctx, mergeReserve, skus, n, c.token)
	return all(res, err, len(skus))
}

func all(res sql.Result, err error, want int) error {
	if err != nil {
		return fmt.Errorf("merge: %w", err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}
	if n != int64(want) {
		return ErrCounted
	}
	return nil
}
