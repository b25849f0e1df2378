package xn07

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

var (
	ErrHeld = errors.New("lease is held")
	ErrLost = errors.New("lease was lost")
)

type Lease struct {
	Name  string
	Fence int64
}

type Leases struct {
	db    *sql.DB
	owner string
}

// Acquire makes the row, or takes it over once it has run out; each time with
// a new fence.
func (l *Leases) Acquire(ctx context.Context, name string, ttl time.Duration) (*Lease, error) {
	out := Lease{Name: name}
	err := l.db.QueryRowContext(ctx, `
		INSERT INTO cron_lease (name, owner, fence, expires_at)
		VALUES ($1, $2, 1, now() + make_interval(secs => $3))
		ON CONFLICT (name) DO UPDATE
		SET owner = EXCLUDED.owner, fence = cron_lease.fence + 1, expires_at = EXCLUDED.expires_at
		WHERE cron_lease.expires_at < now()
		RETURNING fence`, name, l.owner, ttl.Seconds()).Scan(&out.Fence)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrHeld
	}
	if err != nil {
		return nil, err
	}
	return &out, nil
}

// Steal takes one of a group's leases that have run out.
func (l *Leases) Steal(ctx context.Context, group string, ttl time.Duration) (*Lease, error) {
	var out Lease
	err := l.db.QueryRowContext(ctx, `
		UPDATE cron_lease
		SET owner = $1, fence = fence + 1, expires_at = now() + make_interval(secs => $2)
		WHERE name = (SELECT name FROM cron_lease WHERE name LIKE $3 || '/%' AND expires_at < now()
		              ORDER BY expires_at LIMIT 1 FOR UPDATE SKIP LOCKED)
		RETURNING name, fence`, l.owner, ttl.Seconds(), group).Scan(&out.Name, &out.Fence)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrHeld
	}
	if err != nil {
		return nil, err
	}
	return &out, nil
}

func (l *Leases) Renew(ctx context.Context, x *Lease, ttl time.Duration) error {
	return own(l.db.ExecContext(ctx,
		`UPDATE cron_lease SET expires_at = now() + make_interval(secs => $3) WHERE name = $1 AND fence = $2`,
		x.Name, x.Fence, ttl.Seconds()))
}

func (l *Leases) Release(ctx context.Context, x *Lease) error {
	return own(l.db.ExecContext(ctx,
		`UPDATE cron_lease SET owner = NULL, expires_at = '-infinity' WHERE name = $1 AND fence = $2`, x.Name, x.Fence))
}

// Reap frees what has been dead for a while, and fences its last owner.
func (l *Leases) Reap(ctx context.Context) error {
	_, err := l.db.ExecContext(ctx, `
		UPDATE cron_lease SET owner = NULL, fence = fence + 1
		WHERE owner IS NOT NULL AND expires_at < now() - interval '10 minutes'`)
	return err
}

func own(res sql.Result, err error) error {
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err == nil && n == 0 {
		err = ErrLost
	}
	return err
}
