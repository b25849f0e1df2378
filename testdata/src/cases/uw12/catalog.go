package uw12

import (
	"context"
	"database/sql"
	"errors"

	sq "github.com/Masterminds/squirrel"
)

var ErrFenced = errors.New("stream is owned by another broker")

type Catalog struct {
	db     *sql.DB
	schema string
	qb     sq.StatementBuilderType
}

func Open(db *sql.DB, schema string) *Catalog {
	return &Catalog{db: db, schema: schema, qb: sq.StatementBuilder.PlaceholderFormat(sq.Dollar)}
}

func (c *Catalog) table() string { return c.schema + ".segment" }

func affected(res sql.Result, err error) error {
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err == nil && n == 0 {
		return ErrFenced
	}
	return err
}

// Grow is called on every flush.
func (c *Catalog) Grow(ctx context.Context, id, size, token int64) error {
	return affected(c.qb.Update(c.table()).
		Set("size_bytes", size).Set("fence_token", token).
		Where(sq.Eq{"id": id}).Where(sq.LtOrEq{"fence_token": token}).
		RunWith(c.db).ExecContext(ctx))
}

// Seal ends a segment: the last write of a broker to it.
func (c *Catalog) Seal(ctx context.Context, id, size int64, onlyHot bool) error {
	b := c.qb.Update(c.table()).Set("sealed", true)
	if size > 0 {
		b = b.Set("size_bytes", size)
	}
	b = b.Where(sq.Eq{"id": id})
	if onlyHot {
		b = b.Where(sq.Eq{"tier": "hot"})
	}
	q, args, err := b.ToSql()
	if err != nil {
		return err
	}
	return affected(c.db.ExecContext(ctx, q, args...)) // want:W
}

// Drop removes what retention has expired; older brokers do it, too.
func (c *Catalog) Drop(ctx context.Context, stream string, below int64) error {
	_, err := c.qb.Delete(c.table()). // want:W
						Where(sq.And{sq.Eq{"stream": stream}, sq.Lt{"id": below}}).
						RunWith(c.db).ExecContext(ctx)
	return err
}
