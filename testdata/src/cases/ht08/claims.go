package ht08

import (
	"context"
	"time"

	sq "github.com/Masterminds/squirrel"
	"github.com/jmoiron/sqlx"
)

type Claims struct {
	db  *sqlx.DB
	who string
	now func() time.Time
}

func New(db *sqlx.DB, who string) *Claims { return &Claims{db: db, who: who, now: time.Now} }

// Steal takes runs over whose claim has run out.
func (c *Claims) Steal(ctx context.Context, max uint64) (int64, error) {
	now := c.now()
	q, args, err := sq.Update("runs").
		Set("claimed_by", c.who).
		Set("claim_expires_at", now.Add(time.Minute)).
		Where(sq.Eq{"finished_at": nil}).
		Where(sq.Lt{"claim_expires_at": now}). // may:T
		PlaceholderFormat(sq.Dollar).
		Limit(max).
		ToSql() // want:T
	if err != nil {
		return 0, err
	}
	res, err := c.db.ExecContext(ctx, q, args...) // may:T
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}
