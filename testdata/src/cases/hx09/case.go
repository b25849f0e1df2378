// Package hx09 elects a primary through a row in MySQL and cleans up as such.
package hx09

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"gorm.io/gorm"
)

type LeaderLock struct {
	Name     string `gorm:"primaryKey"`
	Holder   string
	LockedAt time.Time
}

func (LeaderLock) TableName() string { return "leader_locks" }

type Upload struct {
	ID     uint
	Status string
	Parts  int
}

type Elector struct {
	db *gorm.DB
	me string
}

func NewElector(db *gorm.DB) (*Elector, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	return &Elector{db: db, me: fmt.Sprintf("%s-%d", host, os.Getpid())}, nil
}

// TryAcquire takes a free row.
func (e *Elector) TryAcquire(ctx context.Context, name string) (bool, error) {
	var l LeaderLock
	err := e.db.WithContext(ctx).First(&l, "name = ?", name).Error
	if err != nil && !errors.Is(err, gorm.ErrRecordNotFound) {
		return false, err
	}
	if l.Holder != "" && l.Holder != e.me {
		return false, nil
	}
	l = LeaderLock{Name: name, Holder: e.me, LockedAt: time.Now()}
	if err := e.db.WithContext(ctx).Save(&l).Error; err != nil { // want:C|W
		return false, err
	}
	return true, nil
}

func (e *Elector) holds(ctx context.Context, name string) bool {
	var l LeaderLock
	if err := e.db.WithContext(ctx).First(&l, "name = ?", name).Error; err != nil {
		return false
	}
	return l.Holder == e.me
}

type Sweeper struct {
	db *gorm.DB
	el *Elector
}

func (s *Sweeper) Sweep(ctx context.Context) error {
	if !s.el.holds(ctx, "upload-sweeper") {
		return nil
	}
	var stale []Upload
	if err := s.db.WithContext(ctx).Where("status = ?", "aborted").Limit(500).Find(&stale).Error; err != nil {
		return err
	}
	for i := range stale {
		if err := s.db.WithContext(ctx).Delete(&stale[i]).Error; err != nil { // want:C
			return err
		}
	}
	return nil
}
