package uf34

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"
)

type ExportJob struct {
	ID         uint64 `gorm:"primaryKey"`
	Status     string
	Try        int // raised with every claim
	Worker     string
	ClaimedAt  time.Time
	RowsDone   int64
	FileURL    string
	FinishedAt *time.Time
}

func (ExportJob) TableName() string { return "export_jobs" }

var ErrNothing = errors.New("nothing to do")

type Jobs struct{ db *gorm.DB }

func (j *Jobs) Next(ctx context.Context, worker string) (*ExportJob, error) {
	var job ExportJob
	res := j.db.WithContext(ctx).Raw(`
		UPDATE export_jobs SET status = 'running', try = try + 1, worker = ?, claimed_at = now()
		WHERE id = (SELECT id FROM export_jobs
		            WHERE status = 'new' OR status = 'running' AND claimed_at < now() - interval '15 minutes'
		            ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
		RETURNING *`, worker).Scan(&job)
	if res.Error != nil {
		return nil, fmt.Errorf("claim: %w", res.Error)
	}
	if res.RowsAffected == 0 {
		return nil, ErrNothing
	}
	return &job, nil
}

// Checkpoint saves the whole struct.
func (j *Jobs) Checkpoint(ctx context.Context, job *ExportJob, rows int64) error {
	job.RowsDone = rows
	if err := j.db.WithContext(ctx).Save(job).Error; err != nil { // want:L|W
		return fmt.Errorf("checkpoint %d: %w", job.ID, err)
	}
	return nil
}

// Done sets three columns of the row with the primary key of job.
func (j *Jobs) Done(ctx context.Context, job *ExportJob, url string) error {
	now := time.Now()
	res := j.db.WithContext(ctx).Model(job).UpdateColumns(map[string]any{ // want:L|W
		"status": "done", "file_url": url, "finished_at": &now,
	})
	if res.Error != nil {
		return fmt.Errorf("finish %d: %w", job.ID, res.Error)
	}
	if res.RowsAffected != 1 {
		return fmt.Errorf("job %d is gone", job.ID)
	}
	return nil
}
