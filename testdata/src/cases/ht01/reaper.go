package ht01

import (
	"context"
	"log/slog"
	"time"

	"gorm.io/gorm"
)

const silence = 45 * time.Second

type Agent struct {
	ID            string `gorm:"primaryKey"`
	LastHeartbeat time.Time
	Alive         bool
}

type Build struct {
	ID      uint
	AgentID *string
	Status  string
}

// reapAgents gives the builds of silent agents back to the queue.
func reapAgents(ctx context.Context, db *gorm.DB) error {
	var agents []Agent
	if err := db.WithContext(ctx).Where("alive = ?", true).Find(&agents).Error; err != nil {
		return err
	}
	for _, a := range agents {
		if time.Since(a.LastHeartbeat) < silence { // want:T
			continue
		}
		slog.Info("agent is gone", "id", a.ID)
		err := db.Transaction(func(tx *gorm.DB) error {
			if err := tx.Model(&Build{}).Where("agent_id = ? AND status = ?", a.ID, "running").
				Updates(map[string]any{"agent_id": nil, "status": "queued"}).Error; err != nil {
				return err
			}
			return tx.Model(&Agent{}).Where("id = ?", a.ID).Update("alive", false).Error
		})
		if err != nil {
			return err
		}
	}
	return nil
}
