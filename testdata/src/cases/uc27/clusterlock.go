package uc27

import (
	"context"
	"errors"
	"time"

	"gorm.io/gorm"
)

// ClusterLock is one row per singleton task.
type ClusterLock struct {
	Name        string `gorm:"primaryKey"`
	Holder      string
	LockedUntil *time.Time
	Version     int64
}

var ErrBusy = errors.New("task is locked by another node")

type Manager struct {
	db   *gorm.DB
	node string
}

func (m *Manager) fetch(ctx context.Context, name string) (*ClusterLock, error) {
	l := ClusterLock{Name: name}
	err := m.db.WithContext(ctx).FirstOrCreate(&l, "name = ?", name).Error // may:C
	return &l, err
}

// Lock takes the row by its version. The version makes the step atomic; the
// decision that the holder is gone still rests on two hosts' clocks.
func (m *Manager) Lock(ctx context.Context, name string, d time.Duration) (*ClusterLock, error) {
	l, err := m.fetch(ctx, name)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	if l.Holder != "" && l.Holder != m.node {
		if l.LockedUntil != nil && !now.After(*l.LockedUntil) { // want:T
			return nil, ErrBusy
		}
	}
	until := now.Add(d) // may:T
	res := m.db.WithContext(ctx).Model(&ClusterLock{}).
		Where("name = ? AND version = ?", name, l.Version).
		Updates(map[string]any{"holder": m.node, "locked_until": until, "version": l.Version + 1}) // may:T
	if res.Error != nil {
		return nil, res.Error
	}
	if res.RowsAffected == 0 {
		return nil, ErrBusy
	}
	l.Holder, l.LockedUntil, l.Version = m.node, &until, l.Version+1
	return l, nil
}

func (m *Manager) Unlock(ctx context.Context, l *ClusterLock) error {
	return m.db.WithContext(ctx).Model(&ClusterLock{}).
		Where("name = ? AND holder = ? AND version = ?", l.Name, m.node, l.Version).
		Update("holder", "").Error
}
