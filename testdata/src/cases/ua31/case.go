// Package ua31 distributes shards over the nodes of a search cluster.
package ua31

import (
	"context"
	"log/slog"
	"time"

	"gorm.io/gorm"
)

type ShardNode struct {
	Shard  int `gorm:"primaryKey"`
	Node   string
	SeenAt time.Time
	Rev    int64
}

type Membership struct {
	db   *gorm.DB
	node string
	dead time.Duration
	open func(ctx context.Context, shard int) error
}

// Beat tells the others that this node is alive.
func (m *Membership) Beat(ctx context.Context) error {
	return m.db.WithContext(ctx).Model(&ShardNode{}).Where("node = ?", m.node).
		Update("seen_at", gorm.Expr("now()")).Error
}

// Fill takes shards over whose node has not been seen for a while.
func (m *Membership) Fill(ctx context.Context, limit int) error {
	var all []ShardNode
	if err := m.db.WithContext(ctx).Order("seen_at").Limit(limit).Find(&all).Error; err != nil {
		return err
	}
	for _, s := range all {
		if s.Node == m.node {
			continue
		}
		if time.Since(s.SeenAt) < m.dead { // want:T
			continue
		}
		res := m.db.WithContext(ctx).Model(&ShardNode{}).
			Where("shard = ? AND rev = ?", s.Shard, s.Rev).
			Updates(map[string]any{"node": m.node, "seen_at": gorm.Expr("now()"), "rev": s.Rev + 1})
		if res.Error != nil {
			return res.Error
		}
		if res.RowsAffected == 0 {
			continue
		}
		slog.Info("took shard over", "shard", s.Shard, "from", s.Node)
		if err := m.open(ctx, s.Shard); err != nil {
			return err
		}
	}
	return nil
}
