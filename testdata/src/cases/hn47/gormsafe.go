package hn47

import (
	"context"
	"database/sql"
	"errors"
	"os"

	sq "github.com/Masterminds/squirrel"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

var ErrLost = errors.New("job was taken over")

type Job struct {
	ID      uint
	Holder  string
	Attempt int
	State   string
}

type Worker struct {
	db   *gorm.DB
	raw  *sql.DB
	host string
}

func New(db *gorm.DB, raw *sql.DB) *Worker {
	h, _ := os.Hostname()
	return &Worker{db, raw, h}
}

// Done locks the row it compares and saves it in the same transaction.
func (w *Worker) Done(ctx context.Context, id uint, attempt int) error {
	return w.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		var j Job
		if err := tx.Clauses(clause.Locking{Strength: clause.LockingStrengthUpdate}).First(&j, id).Error; err != nil {
			return err
		}
		if j.Holder != w.host || j.Attempt != attempt {
			return ErrLost
		}
		j.State = "done"
		return tx.Save(&j).Error
	})
}

// Fail repeats the comparison in a builder's condition.
func (w *Worker) Fail(ctx context.Context, j Job) error {
	if j.Holder != w.host {
		return ErrLost
	}
	res, err := sq.Update("jobs").Set("state", "failed").
		Where(sq.And{sq.Eq{"id": j.ID}, sq.Eq{"holder": w.host, "attempt": j.Attempt}}).
		RunWith(w.raw).ExecContext(ctx)
	if err != nil {
		return err
	}
	if n, _ := res.RowsAffected(); n == 0 {
		return ErrLost
	}
	return nil
}

func owned(host string, attempt int) func(*gorm.DB) *gorm.DB {
	return func(q *gorm.DB) *gorm.DB { return q.Where("holder = ? AND attempt = ?", host, attempt) }
}

// Progress uses a scope.
func (w *Worker) Progress(ctx context.Context, id uint, attempt int, state string) error {
	var j Job
	if err := w.db.First(&j, id).Error; err != nil {
		return err
	}
	if j.Attempt != attempt {
		return ErrLost
	}
	res := w.db.WithContext(ctx).Model(&Job{}).Scopes(owned(w.host, attempt)).Where("id = ?", id).Update("state", state)
	if res.Error == nil && res.RowsAffected == 0 {
		return ErrLost
	}
	return res.Error
}

// Retry runs at SERIALIZABLE.
func (w *Worker) Retry(ctx context.Context, id uint) error {
	return w.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		var j Job
		if err := tx.First(&j, id).Error; err != nil {
			return err
		}
		if j.Holder != w.host {
			return ErrLost
		}
		return tx.Model(&j).Updates(map[string]any{"holder": "", "state": "queued"}).Error
	}, &sql.TxOptions{Isolation: sql.LevelSerializable})
}
