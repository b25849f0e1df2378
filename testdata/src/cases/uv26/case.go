package uv26

import (
	"context"
	"database/sql"
	"fmt"
)

// SQL is put together from fragments, as the namespace is known at run time.
const (
	byClaim = ` WHERE id = $1 AND claim_epoch = $2`
	byID    = ` WHERE id = $1`
)

type Backfills struct {
	db *sql.DB
	ns string
}

// Claimed is a backfill as it was claimed.
type Claimed struct {
	ID    int64
	Epoch int64
}

type NotClaimedError struct{ ID int64 }

func (e *NotClaimedError) Error() string { return fmt.Sprintf("backfill %d is not claimed here", e.ID) }

func (b *Backfills) mustHit(id int64, res sql.Result, err error) error {
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err == nil && n == 0 {
		err = &NotClaimedError{id}
	}
	return err
}

func (b *Backfills) Advance(ctx context.Context, c Claimed, upTo int64) error {
	res, err := b.db.ExecContext(ctx, "UPDATE "+b.ns+".backfills SET done_to = $3"+byClaim, c.ID, c.Epoch, upTo)
	return b.mustHit(c.ID, res, err)
}

// Archive moves a finished backfill out of the hot table.
func (b *Backfills) Archive(ctx context.Context, c Claimed) error {
	q := fmt.Sprintf(`WITH gone AS (DELETE FROM %[1]s.backfills%[2]s RETURNING id, spec, done_to)
		INSERT INTO %[1]s.backfills_archive (id, spec, done_to) SELECT id, spec, done_to FROM gone`, b.ns, byID)
	res, err := b.db.ExecContext(ctx, q, c.ID) // want:L // may:W
	return b.mustHit(c.ID, res, err)
}
