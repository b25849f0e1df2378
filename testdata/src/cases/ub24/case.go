package ub24

import (
	"context"
	"log/slog"
	"time"

	"gorm.io/gorm"
)

// WorkerNode is one row per living process.
type WorkerNode struct {
	Hostname    string `gorm:"primaryKey"`
	Version     string
	HeartbeatAt time.Time
}

// Partition is worked on by the node it is assigned to.
type Partition struct {
	ID       int    `gorm:"primaryKey"`
	WorkerID string `gorm:"index"`
}

type Registry struct {
	db   *gorm.DB
	self string
}

func (r *Registry) Beat(ctx context.Context, version string) error {
	n := WorkerNode{Hostname: r.self, Version: version, HeartbeatAt: time.Now()} // may:T
	return r.db.WithContext(ctx).Save(&n).Error                                  // may:T
}

func (r *Registry) dead(ctx context.Context, after time.Duration) (names []string, err error) {
	limit := time.Now().Add(-after)
	err = r.db.WithContext(ctx).Model(&WorkerNode{}).
		Where("heartbeat_at < ?", limit). // want:T
		Pluck("hostname", &names).Error
	return names, err
}

// Reap hands the partitions of silent nodes back to the pool.
func (r *Registry) Reap(ctx context.Context, after time.Duration) error {
	names, err := r.dead(ctx, after)
	if err != nil {
		return err
	}
	for _, n := range names {
		res := r.db.WithContext(ctx).Model(&Partition{}).Where("worker_id = ?", n).Update("worker_id", "") // may:C
		if res.Error != nil {
			return res.Error
		}
		slog.Info("released partitions", "node", n, "count", res.RowsAffected)
	}
	return nil
}
