package pn13

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

var ErrLost = errors.New("lease lost")

// Term is one tenure. The local window is counted from before the request on
// the monotonic clock, less a margin; the store decides with its own clock.
type Term struct {
	db    *sql.DB
	name  string
	token int64
	until time.Time
}

const (
	ttl    = 20 * time.Second
	margin = 4 * time.Second
)

func Begin(ctx context.Context, db *sql.DB, name, node string) (*Term, error) {
	started := time.Now()
	t := &Term{db: db, name: name}
	err := db.QueryRowContext(ctx, `
UPDATE tenure SET node = $2, token = token + 1, ends_at = now() + make_interval(secs => $3)
WHERE name = $1 AND ends_at < now()
RETURNING token`, name, node, ttl.Seconds()).Scan(&t.token)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrLost
	}
	if err != nil {
		return nil, fmt.Errorf("begin %s: %w", name, err)
	}
	t.until = started.Add(ttl - margin)
	return t, nil
}

func (t *Term) Valid() bool { return time.Now().Before(t.until) }

// SetTarget writes under the token; Valid only saves a useless round trip.
func (t *Term) SetTarget(ctx context.Context, replicas int) error {
	if !t.Valid() {
		return ErrLost
	}
	res, err := t.db.ExecContext(ctx, `
UPDATE tenure SET target_replicas = $3 WHERE name = $1 AND token = $2`, t.name, t.token, replicas)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}
	if n != 1 {
		return ErrLost
	}
	return nil
}
