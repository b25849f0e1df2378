package xn09

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"gorm.io/gorm"
)

type Incident struct {
	ID         int64 `gorm:"primaryKey"`
	Severity   string
	Assignee   *string
	Note       string
	Labels     json.RawMessage
	MutedUntil *time.Time
	Term       int64
}

func (Incident) TableName() string { return "incident" }

var ErrDeposed = errors.New("another escalator is in charge")

type Incidents struct{ db *gorm.DB }

// Escalate belongs to the elected escalator.
func (r *Incidents) Escalate(ctx context.Context, id, term int64, severity, who string) error {
	res := r.db.WithContext(ctx).Model(&Incident{}).
		Where("id = ?", id).
		Where("term <= ?", term).
		Updates(map[string]any{"severity": severity, "assignee": who, "term": term})
	if res.Error == nil && res.RowsAffected == 0 {
		return ErrDeposed
	}
	return res.Error
}

// What follows is set by people, at any time.

func (r *Incidents) Label(ctx context.Context, id int64, labels map[string]string) error {
	raw, err := json.Marshal(labels)
	if err != nil {
		return err
	}
	return r.db.WithContext(ctx).Model(&Incident{}).Where("id = ?", id).Update("labels", raw).Error
}

func (r *Incidents) Mute(ctx context.Context, id int64, minutes int, why string) error {
	return r.db.WithContext(ctx).Exec(
		`UPDATE incident SET muted_until = now() + make_interval(mins => ?), note = ? WHERE id = ?`,
		minutes, why, id).Error
}

func (r *Incidents) Unmute(ctx context.Context, ids []int64) error {
	return r.db.WithContext(ctx).Model(&Incident{}).Where("id IN ?", ids).
		Updates(map[string]any{"muted_until": nil, "note": ""}).Error
}
