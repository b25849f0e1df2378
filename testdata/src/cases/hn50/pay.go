package hn50

import (
	"context"
	"errors"
	"time"

	"github.com/bsm/redislock"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Payments hold a redis lock as a courtesy; the transaction alone is right.
type Payments struct {
	lk *redislock.Client
	pg *pgxpool.Pool
}

var errDone = errors.New("already captured")

func (p *Payments) Capture(ctx context.Context, id int64) (err error) {
	l, err := p.lk.Obtain(ctx, "pay", 5*time.Second, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Release(ctx)) }()
	return pgx.BeginFunc(ctx, p.pg, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `UPDATE payments SET state = 'captured' WHERE id = $1 AND state = 'authorized'`, id)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return errDone
		}
		_, err = tx.Exec(ctx, `INSERT INTO payment_events (payment_id, kind) VALUES ($1, 'captured')`, id)
		return err
	})
}
