package pn09

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Mailings become due at a time chosen by a user, and finished ones are kept
// for a while: schedules and retention, compared with this process's clock.
type Mailings struct {
	pool *pgxpool.Pool
	keep time.Duration
}

type mailing struct {
	ID    int64
	RunAt time.Time
	List  string
}

var errIdle = errors.New("nothing is due")

// RunOne holds the row's lock for as long as the work takes.
func (m *Mailings) RunOne(ctx context.Context, expand func(ctx context.Context, tx pgx.Tx, list string) (int, error)) error {
	return pgx.BeginFunc(ctx, m.pool, func(tx pgx.Tx) error {
		var v mailing
		err := tx.QueryRow(ctx, `
SELECT id, run_at, list FROM mailing
WHERE finished_at IS NULL AND run_at <= $1
ORDER BY run_at LIMIT 1 FOR UPDATE SKIP LOCKED`, time.Now()).Scan(&v.ID, &v.RunAt, &v.List)
		if errors.Is(err, pgx.ErrNoRows) {
			return errIdle
		}
		if err != nil {
			return err
		}
		n, err := expand(ctx, tx, v.List)
		if err != nil {
			return fmt.Errorf("mailing %d, late by %s: %w", v.ID, time.Since(v.RunAt), err)
		}
		_, err = tx.Exec(ctx, `UPDATE mailing SET finished_at = now(), recipients = $2 WHERE id = $1`, v.ID, n)
		return err
	})
}

func (m *Mailings) Prune(ctx context.Context) (int64, error) {
	tag, err := m.pool.Exec(ctx, `DELETE FROM mailing WHERE finished_at < $1`, time.Now().Add(-m.keep))
	if err != nil {
		return 0, err
	}
	return tag.RowsAffected(), nil
}
