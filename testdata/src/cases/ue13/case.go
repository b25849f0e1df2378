package ue13

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"
)

type SyncJob struct {
	ID         uint
	Connection string
	State      string
	WorkerID   string
	RowsMoved  int64
	FinishedAt *time.Time
}

var (
	ErrReassigned = errors.New("sync job was given to another worker")
	ErrNothing    = errors.New("no pending sync job")
)

type Worker struct {
	db   *gorm.DB
	id   string
	copy func(ctx context.Context, connection string) (int64, error)
}

func NewWorker(db *gorm.DB, copy func(context.Context, string) (int64, error)) *Worker {
	return &Worker{db: db, id: uuid.NewString(), copy: copy}
}

func (w *Worker) claim(ctx context.Context) (*SyncJob, error) {
	var j SyncJob
	if err := w.db.WithContext(ctx).Where("state = ?", "pending").Order("id").First(&j).Error; err != nil {
		if errors.Is(err, gorm.ErrRecordNotFound) {
			return nil, ErrNothing
		}
		return nil, err
	}
	res := w.db.WithContext(ctx).Model(&SyncJob{}).
		Where("id = ? AND state = ?", j.ID, "pending").
		Updates(map[string]any{"state": "running", "worker_id": w.id})
	if res.Error != nil {
		return nil, res.Error
	}
	if res.RowsAffected == 0 {
		return nil, ErrNothing
	}
	return &j, nil
}

// RunOne copies one connection. A janitor hands jobs of silent workers on.
func (w *Worker) RunOne(ctx context.Context) error { // may:M
	j, err := w.claim(ctx)
	if err != nil {
		return err
	}
	n, err := w.copy(ctx, j.Connection)
	if err != nil {
		return fmt.Errorf("sync %d: %w", j.ID, err)
	}
	return w.finish(ctx, j.ID, n)
}

func (w *Worker) finish(ctx context.Context, id uint, rows int64) error {
	var cur SyncJob
	if err := w.db.WithContext(ctx).Select("id", "worker_id").First(&cur, id).Error; err != nil {
		return err
	}
	if cur.WorkerID != w.id {
		return ErrReassigned
	}
	now := time.Now()
	return w.db.WithContext(ctx).Model(&SyncJob{}).Where("id = ?", id). // want:C|L|W
										Updates(map[string]any{"state": "done", "rows_moved": rows, "finished_at": &now}).Error
}
