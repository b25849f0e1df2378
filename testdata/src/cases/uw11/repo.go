package uw11

import (
	"context"
	"errors"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

var ErrStale = errors.New("a newer controller owns the replica")

type Replica struct {
	ID    string `gorm:"primaryKey"`
	Node  string
	State string
	Fence int64
}

func (Replica) TableName() string { return "replica_set" }

type Event struct {
	ID      int64 `gorm:"primaryKey"`
	Replica string
	What    string
}

func (Event) TableName() string { return "replica_event" }

type Repo struct {
	db    *gorm.DB
	token int64
}

// SetState is refused by rows that a newer controller has written.
func (r *Repo) SetState(ctx context.Context, id, state string) error {
	res := r.db.WithContext(ctx).Model(&Replica{}).
		Where("id = ? AND fence <= ?", id, r.token).
		Updates(map[string]any{"state": state, "fence": r.token})
	if res.Error == nil && res.RowsAffected == 0 {
		return ErrStale
	}
	return res.Error
}

// Move changes the node and records the event in one transaction, which does
// not make the update a fenced one.
func (r *Repo) Move(ctx context.Context, id, node string) error {
	return r.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		res := tx.Model(&Replica{}).Where("id = ?", id).Update("node", node) // want:W
		if res.Error != nil {
			return res.Error
		}
		if res.RowsAffected == 0 {
			return gorm.ErrRecordNotFound
		}
		return tx.Create(&Event{Replica: id, What: "moved to " + node}).Error
	})
}

// Adopt writes what a scan of the nodes has found.
func (r *Repo) Adopt(ctx context.Context, found []Replica) error {
	for i := range found {
		found[i].Fence = r.token
	}
	return r.db.WithContext(ctx).Clauses(clause.OnConflict{ // want:W|D
		Columns:   []clause.Column{{Name: "id"}},
		DoUpdates: clause.AssignmentColumns([]string{"node", "state", "fence"}),
	}).Create(&found).Error
}

func (r *Repo) Forget(ctx context.Context, id string) error {
	return r.db.WithContext(ctx).Where("id = ?", id).Delete(&Replica{}).Error // want:W
}
