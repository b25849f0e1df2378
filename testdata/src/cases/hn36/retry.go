package hn36

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"
)

type delivery struct {
	id      int64
	url     string
	attempt int
}

const maxAttempts = 8

// Bounce gives up after some attempts; the number is compared with a constant.
func Bounce(ctx context.Context, pool *pgxpool.Pool, id int64, post func(string) error) error {
	var d delivery
	if err := pool.QueryRow(ctx, `SELECT id, url, attempt FROM deliveries WHERE id = $1`, id).Scan(&d.id, &d.url, &d.attempt); err != nil {
		return err
	}
	if d.attempt >= maxAttempts {
		_, err := pool.Exec(ctx, `UPDATE deliveries SET state = 'dead' WHERE id = $1`, d.id)
		return err
	}
	if err := post(d.url); err != nil {
		_, err = pool.Exec(ctx, `UPDATE deliveries SET attempt = attempt + 1 WHERE id = $1`, d.id)
		return err
	}
	_, err := pool.Exec(ctx, `UPDATE deliveries SET state = 'ok' WHERE id = $1`, d.id)
	return err
}
