package hn12

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"
)

var ErrStale = errors.New("order was changed meanwhile")

type Order struct {
	ID      uint
	State   string
	Version int
	Total   int64
}

type Repo struct{ db *gorm.DB }

// Transition is a state machine with compare-and-set on state and version.
func (r *Repo) Transition(ctx context.Context, id uint, to string, allowed func(from, to string) bool) error {
	var o Order
	if err := r.db.WithContext(ctx).First(&o, id).Error; err != nil {
		return err
	}
	if !allowed(o.State, to) {
		return fmt.Errorf("%s -> %s is not allowed", o.State, to)
	}
	res := r.db.WithContext(ctx).Model(&Order{}).
		Where("id = ? AND state = ? AND version = ?", o.ID, o.State, o.Version).
		Updates(map[string]any{"state": to, "version": gorm.Expr("version + 1")})
	if res.Error != nil {
		return res.Error
	}
	if res.RowsAffected == 0 {
		return ErrStale
	}
	return nil
}

// Close only moves from one known state.
func (r *Repo) Close(ctx context.Context, id uint) (bool, error) {
	res := r.db.WithContext(ctx).Exec("UPDATE orders SET state = 'closed' WHERE id = ? AND state = 'delivered'", id)
	return res.RowsAffected == 1, res.Error
}
