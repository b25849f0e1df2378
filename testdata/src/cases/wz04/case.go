package wz04

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"
)

var ErrStale = errors.New("stale replica writer")

type Offset struct {
	Partition int64  `db:"partition"`
	Offset    int64  `db:"log_offset"`
	Checksum  []byte `db:"checksum"`
	Fence     int64  `db:"fence"`
}

type Replica struct{ db *sqlx.DB }

func wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	if strings.Contains(err.Error(), "stale fence") {
		return ErrStale
	}
	return fmt.Errorf("%s: %w", op, err)
}

// Advance relies on the trigger of the schema.
func (r *Replica) Advance(ctx context.Context, o Offset) error {
	_, err := r.db.NamedExecContext(ctx, `
		UPDATE replica_offsets
		SET log_offset = :log_offset, checksum = :checksum, fence = :fence
		WHERE partition = :partition`, o)
	return wrap("advance", err)
}

// Restore puts a whole row in place. REPLACE removes the old row and inserts a
// new one, which no UPDATE trigger sees.
func (r *Replica) Restore(ctx context.Context, o Offset) error {
	_, err := r.db.NamedExecContext(ctx, `
		INSERT OR REPLACE INTO replica_offsets (partition, log_offset, checksum, fence)
		VALUES (:partition, :log_offset, :checksum, :fence)`, o) // want:W|D
	return wrap("restore", err)
}

// Forget drops a partition that was moved away.
func (r *Replica) Forget(ctx context.Context, partition int64) error {
	q := r.db.Rebind("DELETE FROM replica_offsets WHERE partition = ?")
	_, err := r.db.ExecContext(ctx, q, partition) // want:W
	return wrap("forget", err)
}

func (r *Replica) All(ctx context.Context) ([]Offset, error) {
	var out []Offset
	err := r.db.SelectContext(ctx, &out, "SELECT partition, log_offset, checksum, fence FROM replica_offsets ORDER BY partition")
	return out, err
}
