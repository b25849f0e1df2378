package hn54

import (
	"context"
	"errors"
	"time"

	"github.com/jmoiron/sqlx"
)

// Coupons are claimed by customers before they expire.
type Coupon struct {
	ID        int64      `db:"id"`
	Code      string     `db:"code"`
	ClaimedBy *int64     `db:"claimed_by"`
	ClaimedAt *time.Time `db:"claimed_at"`
	ExpiresAt time.Time  `db:"expires_at"`
}

var errGone = errors.New("coupon is gone")

func Redeem(ctx context.Context, db *sqlx.DB, userID int64, code string) error {
	var c Coupon
	if err := db.GetContext(ctx, &c, `SELECT id, code, claimed_by, claimed_at, expires_at FROM coupons WHERE code = $1`, code); err != nil {
		return err
	}
	if c.ExpiresAt.Before(time.Now()) || c.ClaimedBy != nil && *c.ClaimedBy != userID {
		return errGone
	}
	_, err := db.ExecContext(ctx, `UPDATE coupons SET claimed_by = $2, claimed_at = $3 WHERE id = $1`, c.ID, userID, time.Now())
	return err
}

func Cleanup(ctx context.Context, db *sqlx.DB) error {
	_, err := db.ExecContext(ctx, `DELETE FROM coupons WHERE claimed_by IS NULL AND expires_at < $1`, time.Now())
	return err
}
