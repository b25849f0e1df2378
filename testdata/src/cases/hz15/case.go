package hz15

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

var (
	ErrHeld  = errors.New("held by another node")
	ErrStale = errors.New("lease was superseded")
)

// Lease is a grant with a fencing token. The deadline is our own: it counts
// from before the request and ends before the coordinator's.
type Lease struct {
	Name     string
	Token    int64
	deadline time.Time
}

func (l *Lease) Usable() bool { return time.Now().Before(l.deadline) }

type Coordinator struct {
	db   *sql.DB
	node string
	ttl  time.Duration
}

func (c *Coordinator) Acquire(ctx context.Context, name string) (*Lease, error) {
	start := time.Now()
	l := &Lease{Name: name, deadline: start.Add(c.ttl - c.ttl/4)}
	err := c.db.QueryRowContext(ctx, `
		INSERT INTO leases (name, holder, token, expires_at)
		VALUES ($1, $2, 1, now() + make_interval(secs => $3))
		ON CONFLICT (name) DO UPDATE
		SET holder = excluded.holder, token = leases.token + 1, expires_at = excluded.expires_at
		WHERE leases.expires_at < now()
		RETURNING token`, name, c.node, c.ttl.Seconds()).Scan(&l.Token)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrHeld
	}
	return l, err
}

// Replica writes the state of a shard under the lease's token.
type Replica struct {
	db    *sql.DB
	lease *Lease
}

func (r *Replica) Save(ctx context.Context, state []byte) error {
	if !r.lease.Usable() {
		return ErrStale
	}
	res, err := r.db.ExecContext(ctx,
		`UPDATE shard_state SET state = $2, fence = $3 WHERE name = $1 AND fence <= $3`,
		r.lease.Name, state, r.lease.Token)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrStale
	}
	return nil
}
