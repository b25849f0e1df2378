package uc16

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"

	sq "github.com/Masterminds/squirrel"
)

var pg = sq.StatementBuilder.PlaceholderFormat(sq.Dollar)

// Consumer works on the shards an assigner has written down for this process.
type Consumer struct {
	db   *sql.DB
	self string
	next func(ctx context.Context, shard int, from int64) (last int64, err error)
}

func New(db *sql.DB, next func(context.Context, int, int64) (int64, error)) (*Consumer, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	return &Consumer{db: db, next: next, self: fmt.Sprintf("%s-%d", host, os.Getpid())}, nil
}

// owns asks the assignment table who has the shard now.
func (c *Consumer) owns(ctx context.Context, shard int) (bool, error) {
	var owner sql.NullString
	err := pg.Select("owner").From("shard_owner").Where(sq.Eq{"shard": shard}).
		RunWith(c.db).QueryRowContext(ctx).Scan(&owner)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, err
	}
	return owner.Valid && owner.String == c.self, nil
}

func (c *Consumer) offset(ctx context.Context, shard int) (off int64, err error) {
	err = pg.Select("committed").From("shard_offset").Where(sq.Eq{"shard": shard}).
		RunWith(c.db).QueryRowContext(ctx).Scan(&off)
	return
}

// Step handles one batch and commits the offset.
func (c *Consumer) Step(ctx context.Context, shard int) error {
	from, err := c.offset(ctx, shard)
	if err != nil {
		return err
	}
	last, err := c.next(ctx, shard, from)
	if err != nil || last == from {
		return err
	}
	mine, err := c.owns(ctx, shard)
	if err != nil {
		return err
	}
	if !mine {
		return fmt.Errorf("shard %d was moved away from %s", shard, c.self)
	}
	_, err = pg.Update("shard_offset"). // want:C
						Set("committed", last).
						Set("updated_at", sq.Expr("now()")).
						Where(sq.Eq{"shard": shard}).
						RunWith(c.db).ExecContext(ctx)
	return err
}
