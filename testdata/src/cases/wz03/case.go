package wz03

import (
	"context"
	"errors"
	"maps"

	"gorm.io/gorm"
)

var ErrLostRegion = errors.New("region is synced by another worker")

type SyncAccount struct {
	ID           int64 `gorm:"primaryKey"`
	Region       string
	BalanceCents int64
	Closed       bool
	FencingToken int64
}

// base hides the token: every query of a worker starts at owned.
type base struct {
	db    *gorm.DB
	token int64
}

func notNewer(token int64) func(*gorm.DB) *gorm.DB {
	return func(tx *gorm.DB) *gorm.DB { return tx.Where("fencing_token <= ?", token) }
}

func (b *base) owned(ctx context.Context) *gorm.DB {
	return b.db.WithContext(ctx).Model(&SyncAccount{}).Scopes(notNewer(b.token))
}

func (b *base) set(vals map[string]any) map[string]any {
	out := maps.Clone(vals)
	out["fencing_token"] = b.token
	return out
}

// Worker reconciles the accounts of one region.
type Worker struct {
	base
	region string
}

func NewWorker(db *gorm.DB, region string, token int64) *Worker {
	return &Worker{base: base{db: db, token: token}, region: region}
}

func (w *Worker) Apply(ctx context.Context, id, cents int64) error {
	return affected(w.owned(ctx).Where("id = ?", id).Updates(map[string]any{
		"balance_cents": cents,
		"synced_at":     gorm.Expr("now()"),
		"fencing_token": w.token,
	}))
}

func (w *Worker) Close(ctx context.Context, id int64) error {
	return affected(w.owned(ctx).Where("id = ?", id).Updates(w.set(map[string]any{"closed": true})))
}

// Purge removes what the bank no longer lists.
func (w *Worker) Purge(ctx context.Context, ids []int64) (int64, error) {
	res := w.owned(ctx).Where("region = ? AND closed", w.region).Where("id IN ?", ids).Delete(&SyncAccount{})
	return res.RowsAffected, res.Error
}

func affected(tx *gorm.DB) error {
	switch {
	case tx.Error != nil:
		return tx.Error
	case tx.RowsAffected == 0:
		return ErrLostRegion
	}
	return nil
}
