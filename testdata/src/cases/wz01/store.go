package wz01

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

var ErrFenced = errors.New("shard belongs to a newer owner")

type Shard struct {
	ID       string
	Cursor   int64
	Endpoint string
	Draining bool
}

// Owner writes the row of one shard for as long as it has the token.
type Owner struct {
	pool  *pgxpool.Pool
	shard string
	token int64
}

func (o *Owner) Load(ctx context.Context) (*Shard, error) {
	s := &Shard{ID: o.shard}
	err := o.pool.QueryRow(ctx, qLoad, o.shard).Scan(&s.Cursor, &s.Endpoint, &s.Draining)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("shard %s: unknown", o.shard)
	}
	return s, err
}

func (o *Owner) Commit(ctx context.Context, pos int64) error {
	tag, err := o.pool.Exec(ctx, qCommit, o.shard, o.token, pos)
	if err != nil {
		return fmt.Errorf("commit %s: %w", o.shard, err)
	}
	if tag.RowsAffected() == 0 {
		return ErrFenced
	}
	return nil
}

func (o *Owner) MoveTo(ctx context.Context, endpoint string) error {
	tag, err := o.pool.Exec(ctx, qMove, o.shard, o.token, endpoint)
	if err != nil {
		return fmt.Errorf("move %s: %w", o.shard, err)
	}
	if tag.RowsAffected() == 0 {
		return ErrFenced
	}
	return nil
}

// Drain is called on shutdown and may land long after the shard has moved on.
func (o *Owner) Drain(ctx context.Context, on bool) error {
	tag, err := o.pool.Exec(ctx, qDrain, o.shard, on) // want:W
	if err != nil {
		return fmt.Errorf("drain %s: %w", o.shard, err)
	}
	if tag.RowsAffected() == 0 {
		return fmt.Errorf("shard %s: unknown", o.shard)
	}
	return nil
}
