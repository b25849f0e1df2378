package hn16

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
)

// Dedupe keeps a marker per webhook; nobody releases it, it is no lock.
type Webhooks struct {
	rdb *redis.Client
	db  *pgxpool.Pool
}

func (w *Webhooks) Receive(ctx context.Context, eventID string, order int64) error {
	first, err := w.rdb.SetNX(ctx, "webhook:seen:"+eventID, 1, 24*time.Hour).Result()
	if err != nil {
		return err
	}
	if !first {
		return nil
	}
	_, err = w.db.Exec(ctx, `UPDATE orders SET paid = true WHERE id = $1`, order)
	return err
}

// Charge stores an idempotency key with the payment in one transaction.
func (w *Webhooks) Charge(ctx context.Context, key uuid.UUID, order, cents int64) error {
	tx, err := w.db.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback(ctx)
	tag, err := tx.Exec(ctx, `INSERT INTO idempotency_keys (key) VALUES ($1) ON CONFLICT DO NOTHING`, key)
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 {
		return nil
	}
	if _, err := tx.Exec(ctx, `INSERT INTO payments (order_id, cents) VALUES ($1, $2)`, order, cents); err != nil {
		return err
	}
	return tx.Commit(ctx)
}
