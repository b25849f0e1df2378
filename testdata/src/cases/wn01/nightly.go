package wn01

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/bsm/redislock"
)

// Nightly is the only part of the program that holds a lock. Its row is keyed
// by day, so a second runner changes nothing.
type Nightly struct {
	db    *sql.DB
	locks *redislock.Client
}

func (n *Nightly) Run(ctx context.Context, day time.Time) error {
	lk, err := n.locks.Obtain(ctx, "nightly", time.Minute, nil) // may:M
	if errors.Is(err, redislock.ErrNotObtained) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = lk.Release(context.WithoutCancel(ctx)) }()
	ctx, cancel := context.WithTimeout(ctx, 40*time.Second)
	defer cancel()
	_, err = n.db.ExecContext(ctx, `
		INSERT INTO daily_stats (day, documents) SELECT $1, count(*) FROM documents
		ON CONFLICT (day) DO NOTHING`, day.Format(time.DateOnly))
	return err
}
