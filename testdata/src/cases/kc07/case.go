// Package kc07 is a reminder queue in gorm; the row lock is held while a
// reminder is handled.
package kc07

import (
	"context"
	"errors"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

type Reminder struct {
	ID       uint `gorm:"primaryKey"`
	UserID   uint
	Text     string
	State    string
	RunAt    time.Time
	Attempts int
	LastErr  string
}

type Queue struct {
	db     *gorm.DB
	handle func(ctx context.Context, tx *gorm.DB, r *Reminder) error
}

// Next handles one due reminder. It reports whether there was one.
func (q *Queue) Next(ctx context.Context) (bool, error) {
	found := false
	err := q.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		var r Reminder
		err := tx.Clauses(clause.Locking{Strength: "UPDATE", Options: "SKIP LOCKED"}).
			Where("state = ? AND run_at <= ?", "due", time.Now()).
			Order("run_at").First(&r).Error
		if errors.Is(err, gorm.ErrRecordNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		found = true
		if err := q.handle(ctx, tx, &r); err != nil {
			return tx.Model(&r).Updates(map[string]any{
				"attempts": r.Attempts + 1,
				"last_err": err.Error(),
				"run_at":   time.Now().Add(time.Duration(r.Attempts+1) * time.Minute),
			}).Error
		}
		return tx.Model(&r).Update("state", "done").Error
	})
	return found, err
}

// Snooze is called by the API for the user's own reminder.
func (q *Queue) Snooze(ctx context.Context, user, id uint, d time.Duration) error {
	var r Reminder
	if err := q.db.WithContext(ctx).First(&r, id).Error; err != nil {
		return err
	}
	if r.UserID != user {
		return gorm.ErrRecordNotFound
	}
	return q.db.WithContext(ctx).Model(&r).Update("run_at", time.Now().Add(d)).Error
}

// Purge drops reminders that are long done.
func (q *Queue) Purge(ctx context.Context, keep time.Duration) error {
	return q.db.WithContext(ctx).
		Where("state = ? AND run_at < ?", "done", time.Now().Add(-keep)).
		Delete(&Reminder{}).Error
}
