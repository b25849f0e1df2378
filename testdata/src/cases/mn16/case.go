package mn16

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
)

const nodeLocks = "node_locks"

var (
	ErrHeld = errors.New("lock is held")
	ErrLost = errors.New("lock was lost")
)

// Lock is one acquisition: id is new for each.
type Lock struct {
	db   *sql.DB
	name string
	id   string
}

// TryLock takes the row if it is free or run out by the database's clock.
func TryLock(ctx context.Context, db *sql.DB, name string, ttl time.Duration) (*Lock, error) {
	l := &Lock{db: db, name: name, id: uuid.NewString()}
	err := l.exec(ctx, ErrHeld, fmt.Sprintf(`
		INSERT INTO %s AS l (name, lock_id, expires_at) VALUES ($1, $2, now() + make_interval(secs => $3))
		ON CONFLICT (name) DO UPDATE SET lock_id = EXCLUDED.lock_id, expires_at = EXCLUDED.expires_at
		WHERE l.lock_id IS NULL OR l.expires_at < now()`, nodeLocks), name, l.id, ttl.Seconds())
	if err != nil {
		return nil, err
	}
	return l, nil
}

func (l *Lock) exec(ctx context.Context, none error, query string, args ...any) error {
	res, err := l.db.ExecContext(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("lock %s: %w", l.name, err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}
	if n == 0 {
		return none
	}
	return nil
}

func (l *Lock) Renew(ctx context.Context, ttl time.Duration) error {
	return l.exec(ctx, ErrLost, fmt.Sprintf(
		`UPDATE %s SET expires_at = now() + make_interval(secs => $3) WHERE name = $1 AND lock_id = $2 AND expires_at > now()`, nodeLocks),
		l.name, l.id, ttl.Seconds())
}

func (l *Lock) Unlock(ctx context.Context) error {
	return l.exec(ctx, ErrLost, fmt.Sprintf(
		`UPDATE %s SET lock_id = NULL WHERE name = $1 AND lock_id = $2`, nodeLocks), l.name, l.id)
}
