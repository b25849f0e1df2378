package vn18

import (
	"context"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/jmoiron/sqlx"
)

// Tags are synced from git by any node; the lock only saves double work, the
// unique key (repo_id, name) makes repeats harmless.
type Tags struct {
	db   *sqlx.DB
	sync *redsync.Redsync
	list func(ctx context.Context, repo int64) ([]string, error)
}

func (t *Tags) Sync(ctx context.Context, repo int64) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	mu := t.sync.NewMutex("tags", redsync.WithExpiry(30*time.Second))
	if err := mu.LockContext(ctx); err != nil {
		return err
	}
	defer func() { _, _ = mu.UnlockContext(context.WithoutCancel(ctx)) }()
	names, err := t.list(ctx, repo)
	if err != nil {
		return err
	}
	for _, n := range names {
		_, err := t.db.ExecContext(ctx,
			`INSERT INTO tag (repo_id, name) VALUES ($1, $2) ON CONFLICT (repo_id, name) DO NOTHING`, repo, n)
		if err != nil {
			return err
		}
	}
	return nil
}
