package uf16

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// nowMicro is rounded to what the column can store.
func nowMicro() time.Time { return time.Now().Truncate(time.Microsecond) }

// ErrClaimed says that another worker is syncing the repository.
var ErrClaimed = errors.New("mirror is being synced")

type mirror struct {
	ID           int64
	Credentials  string
	CredsExpire  time.Time // agreed with the remote: not a lease
	ClaimedBy    *string
	ClaimedUntil *time.Time
}

type Syncer struct {
	pool *pgxpool.Pool
	self string
	hold time.Duration
}

func load(ctx context.Context, tx pgx.Tx, id int64) (mirror, error) {
	m := mirror{ID: id}
	err := tx.QueryRow(ctx, `
		SELECT credentials, creds_expire, claimed_by, claimed_until
		FROM repo_mirrors WHERE id = $1 FOR UPDATE`, id).
		Scan(&m.Credentials, &m.CredsExpire, &m.ClaimedBy, &m.ClaimedUntil)
	return m, err
}

// Claim reserves the mirror for this worker.
func (s *Syncer) Claim(ctx context.Context, id int64) (mirror, error) {
	var m mirror
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) (err error) {
		if m, err = load(ctx, tx, id); err != nil {
			return fmt.Errorf("load mirror: %w", err)
		}
		if nowMicro().After(m.CredsExpire) {
			return errors.New("credentials ran out")
		}
		if m.ClaimedUntil != nil && m.ClaimedUntil.After(nowMicro()) { // want:T
			return ErrClaimed
		}
		until := nowMicro().Add(s.hold) // may:T
		m.ClaimedBy, m.ClaimedUntil = &s.self, &until
		_, err = tx.Exec(ctx, `UPDATE repo_mirrors SET claimed_by = $2, claimed_until = $3 WHERE id = $1`, // may:T
			id, s.self, until)
		return err
	})
	return m, err
}
