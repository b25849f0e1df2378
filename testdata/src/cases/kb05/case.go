// Package kb05 is the node registry of a query engine.
package kb05

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

type Node struct {
	Name          string `gorm:"primaryKey"`
	Addr          string
	Alive         bool
	LastHeartbeat time.Time
}

type Registry struct {
	db *gorm.DB
}

// Beat is called by every node for itself.
func (r *Registry) Beat(ctx context.Context, name, addr string) error {
	n := Node{Name: name, Addr: addr, Alive: true, LastHeartbeat: time.Now()}
	return r.db.WithContext(ctx).Clauses(clause.OnConflict{UpdateAll: true}).Create(&n).Error // may:T
}

// MarkDead declares nodes dead that have been silent for too long; their
// fragments are given to others.
func (r *Registry) MarkDead(ctx context.Context, silence time.Duration) ([]Node, error) {
	if silence <= 0 {
		return nil, errors.New("silence must be positive")
	}
	deadline := time.Now().Add(-silence)
	var dead []Node
	err := r.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		if err := tx.Where("alive = ? AND last_heartbeat < ?", true, deadline).Find(&dead).Error; err != nil { // want:T
			return err
		}
		if len(dead) == 0 {
			return nil
		}
		names := make([]string, 0, len(dead))
		for _, n := range dead {
			names = append(names, n.Name)
		}
		return tx.Model(&Node{}). // want:T
						Where("name IN ? AND last_heartbeat < ?", names, deadline).
						Update("alive", false).Error
	})
	return dead, err
}

func (r *Registry) Watch(ctx context.Context, every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			dead, err := r.MarkDead(ctx, 5*every)
			if err != nil {
				slog.Error("mark dead", "err", err)
				continue
			}
			for _, n := range dead {
				slog.Warn("node is dead", "node", n.Name)
			}
		}
	}
}
