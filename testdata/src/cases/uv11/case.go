package uv11

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Locker hands out named locks that other services use through RunExclusive.
type Locker interface {
	TryLock(ctx context.Context, name, holder string, ttl time.Duration) (bool, error)
	Unlock(ctx context.Context, name string) error
}

type sqlLocker struct{ db *sql.DB }

func NewLocker(db *sql.DB) Locker { return &sqlLocker{db: db} }

func (l *sqlLocker) TryLock(ctx context.Context, name, holder string, ttl time.Duration) (bool, error) {
	var got string
	err := l.db.QueryRowContext(ctx, `
		INSERT INTO distributed_lock (name, holder, valid_until)
		VALUES ($1, $2, now() + make_interval(secs => $3))
		ON CONFLICT (name) DO UPDATE
		   SET holder = EXCLUDED.holder, valid_until = EXCLUDED.valid_until
		 WHERE distributed_lock.valid_until < now()
		RETURNING holder`, name, holder, ttl.Seconds()).Scan(&got)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return got == holder, err
}

// Unlock frees the name for the next caller.
func (l *sqlLocker) Unlock(ctx context.Context, name string) error {
	_, err := l.db.ExecContext(ctx, `DELETE FROM distributed_lock WHERE name = $1`, name) // want:W
	return err
}

// RunExclusive holds name while fn runs. If fn outlives the lock, the deferred
// Unlock deletes the row of the caller that came after.
func RunExclusive(ctx context.Context, l Locker, name, holder string, fn func(context.Context) error) error {
	ok, err := l.TryLock(ctx, name, holder, time.Minute) // may:M
	if err != nil {
		return fmt.Errorf("lock %q: %w", name, err)
	}
	if !ok {
		return nil
	}
	defer func() {
		_ = l.Unlock(context.WithoutCancel(ctx), name) // may:C|W
	}()
	return fn(ctx)
}
