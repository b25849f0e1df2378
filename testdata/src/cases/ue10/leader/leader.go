// Package leader elects one scheduler with a row in the database.
package leader

import (
	"context"
	"database/sql"
	"log/slog"
	"sync/atomic"
	"time"
)

const campaign = `
UPDATE scheduler_leader SET node = $1, valid_until = now() + interval '15 seconds'
WHERE id = 1 AND (node = $1 OR valid_until < now())`

type Elector struct {
	db      *sql.DB
	node    string
	leading atomic.Bool
}

func New(db *sql.DB, node string) *Elector { return &Elector{db: db, node: node} }

// IsLeader reports the outcome of the last campaign.
func (e *Elector) IsLeader() bool { return e.leading.Load() }

func (e *Elector) try(ctx context.Context) (bool, error) {
	res, err := e.db.ExecContext(ctx, campaign, e.node)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n == 1, err
}

func (e *Elector) Run(ctx context.Context) { // may:M
	t := time.NewTicker(5 * time.Second)
	defer t.Stop()
	for {
		ok, err := e.try(ctx)
		if err != nil {
			slog.Warn("campaign", "node", e.node, "err", err)
		}
		e.leading.Store(ok && err == nil)
		select {
		case <-ctx.Done():
			e.leading.Store(false)
			return
		case <-t.C:
		}
	}
}
