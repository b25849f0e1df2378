package qn06

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Uploads are multi-part transfers that workers claim. Every claim draws a new
// number; it is compared by everything that follows.
type Uploads struct{ pool *pgxpool.Pool }

type Claim struct {
	Upload int64
	No     int64
}

var (
	ErrNone = errors.New("no upload is waiting")
	ErrLost = errors.New("upload was claimed again")
)

// Next claims a waiting upload, or one whose worker let its lease run out.
func (u *Uploads) Next(ctx context.Context, lease time.Duration) (*Claim, error) {
	var c Claim
	err := u.pool.QueryRow(ctx, `
		UPDATE uploads
		SET state = 'active', claim_no = claim_no + 1, lease_until = now() + make_interval(secs => $1)
		WHERE id = (SELECT id FROM uploads
		            WHERE state = 'waiting' OR (state = 'active' AND lease_until < now())
		            ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
		RETURNING id, claim_no`, lease.Seconds()).Scan(&c.Upload, &c.No)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, err
	}
	return &c, nil
}

// Reap gives up on uploads that nobody renews; the database's clock decides.
func (u *Uploads) Reap(ctx context.Context) (int64, error) {
	tag, err := u.pool.Exec(ctx, `
		UPDATE uploads SET state = 'waiting', claim_no = claim_no + 1, lease_until = NULL
		WHERE state = 'active' AND lease_until < now() - interval '1 minute'`)
	if err != nil {
		return 0, fmt.Errorf("reap: %w", err)
	}
	return tag.RowsAffected(), nil
}

func (u *Uploads) Part(ctx context.Context, c Claim, part int) error {
	return u.fenced(ctx, `UPDATE uploads SET parts = array_append(parts, $3) WHERE id = $1 AND claim_no = $2`, c.Upload, c.No, part)
}

func (u *Uploads) Done(ctx context.Context, c Claim) error {
	return u.fenced(ctx, `UPDATE uploads SET state = 'done' WHERE id = $1 AND claim_no = $2`, c.Upload, c.No)
}

func (u *Uploads) fenced(ctx context.Context, sql string, args ...any) error {
	tag, err := u.pool.Exec(ctx, sql, args...)
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 {
		return ErrLost
	}
	return nil
}
