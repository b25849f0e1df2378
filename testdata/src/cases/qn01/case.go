package qn01

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	sq "github.com/Masterminds/squirrel"
)

var ErrOutdated = errors.New("replica set was reassigned")

// Replicas builds its statements; the epoch is part of a shared predicate.
type Replicas struct {
	b  sq.StatementBuilderType
	db *sql.DB
}

func New(db *sql.DB) *Replicas {
	return &Replicas{db: db, b: sq.StatementBuilder.PlaceholderFormat(sq.Dollar)}
}

// Assignment is what the placement driver handed to this node.
type Assignment struct {
	Set   string
	Epoch int64
}

func (a Assignment) current() sq.Eq {
	return sq.Eq{"set_name": a.Set, "epoch": a.Epoch}
}

func (r *Replicas) run(ctx context.Context, s sq.Sqlizer) error {
	q, args, err := s.ToSql()
	if err != nil {
		return fmt.Errorf("build: %w", err)
	}
	res, err := r.db.ExecContext(ctx, q, args...)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrOutdated
	}
	return nil
}

func (r *Replicas) SetPrimary(ctx context.Context, a Assignment, node string) error {
	return r.run(ctx, r.b.Update("replica_sets").Set("primary_node", node).Where(a.current()))
}

func (r *Replicas) SetState(ctx context.Context, a Assignment, state, reason string) error {
	u := r.b.Update("replica_sets").Set("state", state).Where(a.current())
	if reason != "" {
		u = u.Set("reason", reason)
	}
	return r.run(ctx, u)
}

func (r *Replicas) Drop(ctx context.Context, a Assignment) error {
	return r.run(ctx, r.b.Delete("replica_sets").Where(sq.And{a.current(), sq.Eq{"state": "drained"}}))
}
