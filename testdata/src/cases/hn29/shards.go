package hn29

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

var ErrGone = errors.New("shard was taken over")

type Shards struct {
	pool  *pgxpool.Pool
	owner string
	epoch int64
}

// Checkpoint first looks, to save work, and repeats the comparison in the write.
func (s *Shards) Checkpoint(ctx context.Context, id int, pos string) error {
	var owner string
	var epoch int64
	if err := s.pool.QueryRow(ctx, `SELECT owner, epoch FROM shards WHERE id = $1`, id).Scan(&owner, &epoch); err != nil {
		return err
	}
	if owner != s.owner || epoch != s.epoch {
		return ErrGone
	}
	tag, err := s.pool.Exec(ctx, `UPDATE shards SET pos = @pos WHERE id = @id AND owner = @me AND epoch = @epoch`,
		pgx.NamedArgs{"id": id, "pos": pos, "me": s.owner, "epoch": s.epoch})
	if err != nil {
		return err
	}
	if tag.RowsAffected() != 1 {
		return ErrGone
	}
	return nil
}

// Beat and Drop work on the lease's own row and compare the owner.
func (s *Shards) Beat(ctx context.Context, id int) error {
	_, err := s.pool.Exec(ctx, `UPDATE shards SET lease_end = now() + interval '1 minute' WHERE id = $1 AND owner = $2 AND lease_end > now()`, id, s.owner)
	return err
}
