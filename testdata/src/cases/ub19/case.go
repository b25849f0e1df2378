package ub19

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// Coordinator lets one controller at a time drive a region.
type Coordinator struct {
	db  *sql.DB
	me  string
	ttl time.Duration
}

func New(db *sql.DB, ttl time.Duration) *Coordinator {
	return &Coordinator{db: db, me: uuid.NewString(), ttl: ttl}
}

var ErrHeld = errors.New("region is driven by another controller")

type row struct {
	holder  string
	expires time.Time
	rev     int64
}

func (c *Coordinator) get(ctx context.Context, region string) (*row, error) {
	var r row
	err := c.db.QueryRowContext(ctx, `SELECT holder, expires_at, rev FROM region_lease WHERE region = $1`, region).
		Scan(&r.holder, &r.expires, &r.rev)
	if err != nil {
		return nil, fmt.Errorf("lease of %s: %w", region, err)
	}
	return &r, nil
}

// Take steals the lease if its last holder let it run out. The update is
// conditional on the revision read; who counts as dead is decided up here.
func (c *Coordinator) Take(ctx context.Context, region string) (int64, error) {
	r, err := c.get(ctx, region)
	if err != nil {
		return 0, err
	}
	now := time.Now()
	if r.holder != c.me && r.expires.After(now) { // want:T
		return 0, fmt.Errorf("%w: %s until %s", ErrHeld, r.holder, r.expires)
	}
	res, err := c.db.ExecContext(ctx, // may:T
		`UPDATE region_lease SET holder = $1, expires_at = $2, rev = rev + 1 WHERE region = $3 AND rev = $4`,
		c.me, now.Add(c.ttl), region, r.rev)
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return 0, err
	}
	if n == 0 {
		return 0, ErrHeld
	}
	return r.rev + 1, nil
}
