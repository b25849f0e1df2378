package ue23

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// Trigger is one scheduled job; a node locks it while the job runs.
type Trigger struct {
	ID       uint
	Name     string
	RunAt    time.Time
	LockedBy *string
	LockedAt *time.Time
}

type Engine struct {
	db          *gorm.DB
	node        string
	lockTimeout time.Duration
}

var errNoTrigger = errors.New("nothing to run")

// next picks the first trigger that is due and not locked, or whose lock was
// left behind by a node that crashed.
func (e *Engine) next(ctx context.Context) (*Trigger, error) {
	var tr Trigger
	err := e.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		now := time.Now()
		res := tx.Clauses(clause.Locking{Strength: "UPDATE", Options: "SKIP LOCKED"}).
			Where("run_at <= ?", now).
			Where("locked_by IS NULL OR locked_at < ?", now.Add(-e.lockTimeout)). // want:T
			Order("run_at").
			Limit(1).
			Find(&tr)
		if res.Error != nil {
			return res.Error
		}
		if res.RowsAffected == 0 {
			return errNoTrigger
		}
		tr.LockedBy, tr.LockedAt = &e.node, &now
		return tx.Model(&tr).Select("locked_by", "locked_at").Updates(&tr).Error // may:T
	})
	if err != nil {
		return nil, err
	}
	return &tr, nil
}

func (e *Engine) Poll(ctx context.Context, every time.Duration, start func(context.Context, *Trigger)) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		tr, err := e.next(ctx)
		switch {
		case errors.Is(err, errNoTrigger):
		case err != nil:
			slog.Error("poll triggers", "node", e.node, "err", err)
		default:
			start(ctx, tr)
		}
	}
}
