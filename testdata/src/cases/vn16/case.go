package vn16

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Lead elects by the database's clock and trusts an election for a window that
// is local, monotonic, counted from before the request and shorter than the
// row's. What it writes names its term as well.
type Lead struct {
	pool *pgxpool.Pool
	name string
	id   string
}

const (
	ttl   = 30 * time.Second
	trust = 20 * time.Second
)

var errLost = errors.New("term is over")

type term struct {
	no    int64
	until time.Time // monotonic
}

func New(pool *pgxpool.Pool, name string) *Lead {
	return &Lead{pool: pool, name: name, id: uuid.NewString()}
}

func (l *Lead) elect(ctx context.Context) (*term, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	sent := time.Now()
	t := &term{until: sent.Add(trust)}
	err := l.pool.QueryRow(ctx, `
		UPDATE term_leader SET
			term = term + CASE WHEN leader = $2 AND expires_at >= now() THEN 0 ELSE 1 END,
			leader = $2, expires_at = now() + make_interval(secs => $3)
		WHERE name = $1 AND (leader = $2 OR expires_at < now())
		RETURNING term`, l.name, l.id, ttl.Seconds()).Scan(&t.no)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, errLost
	}
	return t, err
}

func (t *term) valid() bool { return time.Now().Before(t.until) }

func (l *Lead) watermark(ctx context.Context, t *term, pos int64) error {
	if !t.valid() {
		return errLost
	}
	tag, err := l.pool.Exec(ctx,
		`UPDATE watermark SET pos = $3, term = $2 WHERE name = $1 AND term <= $2`, l.name, t.no, pos)
	if err != nil {
		return fmt.Errorf("watermark: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return errLost
	}
	return nil
}

func (l *Lead) Run(ctx context.Context, next func(context.Context) (int64, error)) error {
	t, err := l.elect(ctx)
	if err != nil {
		return err
	}
	renewed := time.Now()
	for {
		if time.Since(renewed) > trust/4 {
			nt, err := l.elect(ctx)
			if err != nil {
				return err
			}
			t, renewed = nt, time.Now()
		}
		wctx, cancel := context.WithDeadline(ctx, t.until)
		pos, err := next(wctx)
		if err == nil {
			err = l.watermark(wctx, t, pos)
		}
		cancel()
		if err != nil {
			return err
		}
	}
}
