package ub06

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"
)

type Refunder struct {
	rdb *redis.Client
	db  *sql.DB
}

// Sweep walks over the requested refunds every replica knows about.
func (r *Refunder) Sweep(ctx context.Context, ids []int64) error {
	for _, id := range ids {
		if err := r.one(ctx, id); err != nil {
			return fmt.Errorf("refund %d: %w", id, err)
		}
	}
	return nil
}

func (r *Refunder) one(ctx context.Context, id int64) error {
	m := newMutex(r.rdb, fmt.Sprintf("refund:%d", id))
	if !m.tryLock(ctx, 10*time.Second) {
		return nil
	}
	defer func() {
		if err := m.unlock(ctx); err != nil {
			slog.Warn("refund: unlock", "id", id, "err", err)
		}
	}()
	var state string
	var cents int64
	if err := r.db.QueryRowContext(ctx, `SELECT state, cents FROM refund WHERE id = ?`, id).Scan(&state, &cents); err != nil {
		return err
	}
	if state != "requested" {
		return nil
	}
	_, err := r.db.ExecContext(ctx, `UPDATE wallet SET cents = cents + ? WHERE id = (SELECT wallet_id FROM refund WHERE id = ?)`, cents, id) // want:C
	return err
}
