// Package store has the queries of the dispatcher.
package store

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"
)

type Worker struct {
	bun.BaseModel `bun:"table:dispatch_workers"`

	ID            string `bun:",pk"`
	Active        bool
	LastHeartbeat time.Time
}

type Workers struct{ db *bun.DB }

func (w *Workers) Beat(ctx context.Context, id string) error {
	_, err := w.db.NewUpdate().Model((*Worker)(nil)).
		Set("last_heartbeat = ?", time.Now()). // may:T|S
		Where("id = ?", id).Exec(ctx)
	return err
}

// Deactivate takes the slots of silent workers away from them.
func (w *Workers) Deactivate(ctx context.Context, olderThan time.Time) (int64, error) {
	res, err := w.db.NewUpdate().Model((*Worker)(nil)). // may:T
								Set("active = false").
								Where("active").
								Where("last_heartbeat < ?", olderThan).
								Exec(ctx)
	if err != nil {
		return 0, fmt.Errorf("deactivate workers: %w", err)
	}
	return res.RowsAffected()
}
