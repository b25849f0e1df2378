// Package kc03 has a lease table whose times are all the database's.
package kc03

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

var ErrTimeout = errors.New("gave up waiting for the lease")

type Lease struct {
	db   *sqlx.DB
	name string
	id   uuid.UUID
}

func (l *Lease) try(ctx context.Context, secs int) (bool, error) {
	res, err := l.db.NamedExecContext(ctx,
		`INSERT INTO node_lease (name, client_id, expires_at) VALUES (:name, :id, NOW() + make_interval(secs => :secs))
		 ON CONFLICT (name) DO UPDATE SET client_id = :id, expires_at = NOW() + make_interval(secs => :secs)
		 WHERE node_lease.client_id = :id OR node_lease.expires_at < NOW()`,
		map[string]any{"name": l.name, "id": l.id, "secs": secs})
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n > 0, err
}

// Acquire polls for at most wait.
func (l *Lease) Acquire(ctx context.Context, wait time.Duration, secs int) error {
	started := time.Now()
	for {
		ok, err := l.try(ctx, secs)
		if err != nil {
			return err
		}
		if ok {
			return nil
		}
		if time.Since(started) > wait {
			return ErrTimeout
		}
		slog.Debug("lease is held, waiting", "name", l.name, "for", time.Since(started))
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

func (l *Lease) Release(ctx context.Context) error {
	_, err := l.db.ExecContext(ctx, `DELETE FROM node_lease WHERE name = $1 AND client_id = $2`, l.name, l.id)
	return err
}

// Sweep drops leases nobody renews.
func (l *Lease) Sweep(ctx context.Context) error {
	_, err := l.db.ExecContext(ctx, `DELETE FROM node_lease WHERE expires_at < NOW() - INTERVAL '1 day'`)
	return err
}
