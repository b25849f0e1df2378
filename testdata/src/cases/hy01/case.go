// Package hy01 is a background job queue on gorm.
package hy01

import (
	"context"
	"log/slog"
	"time"

	"gorm.io/gorm"
)

type JobStatus string

const (
	Queued  JobStatus = "queued"
	Running JobStatus = "running"
)

type Job struct {
	ID          uint64 `gorm:"primaryKey"`
	Queue       string
	Payload     []byte
	Status      JobStatus
	Attempts    int
	LockedBy    *string
	LockedUntil *time.Time
}

type Reaper struct {
	db       *gorm.DB
	interval time.Duration
	log      *slog.Logger
}

// Run gives jobs of crashed workers back to the queue.
func (r *Reaper) Run(ctx context.Context) {
	t := time.NewTicker(r.interval)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			n, err := r.reap(ctx)
			if err != nil {
				r.log.Error("reap failed", "err", err)
				continue
			}
			if n > 0 {
				r.log.Info("requeued abandoned jobs", "count", n)
			}
		}
	}
}

func (r *Reaper) reap(ctx context.Context) (int64, error) {
	res := r.db.WithContext(ctx).Model(&Job{}).
		Where("status = ?", Running).
		Where("locked_until < ?", time.Now()). // want:T
		Updates(map[string]any{
			"status":       Queued,
			"locked_by":    nil,
			"locked_until": nil,
			"attempts":     gorm.Expr("attempts + 1"),
		})
	return res.RowsAffected, res.Error
}

// Extend is called by the worker while it runs the job.
func (r *Reaper) Extend(ctx context.Context, id uint64, worker string, d time.Duration) error { // may:S|M|T
	return r.db.WithContext(ctx).Model(&Job{}).
		Where("id = ? AND locked_by = ?", id, worker).
		Update("locked_until", time.Now().Add(d)).Error
}
