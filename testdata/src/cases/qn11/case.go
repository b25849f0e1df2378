package qn11

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Ledger keeps the balance of a wallet as the node computed it that leads the
// wallet's group; fences grow with every election.
type Ledger struct {
	upsert *sql.Stmt
	close  *sql.Stmt
	merge  *sql.Stmt
}

var ErrStale = errors.New("a newer leader has written")

const (
	upsertSQL = `
INSERT INTO balances (wallet, cents, fence) VALUES ($1, $2, $3)
ON CONFLICT (wallet) DO UPDATE SET cents = EXCLUDED.cents, fence = EXCLUDED.fence
WHERE balances.fence <= EXCLUDED.fence`

	closeSQL = `UPDATE balances SET closed = true, fence = $2 WHERE wallet = $1 AND fence <= $2`

	// the second statement gets its rows from the fenced one
	mergeSQL = `
WITH src AS (
    UPDATE balances SET cents = 0, closed = true, fence = $3
    WHERE wallet = $1 AND fence <= $3 RETURNING wallet
)
UPDATE balances b SET note = 'merged from ' || src.wallet, fence = $3
FROM src WHERE b.wallet = $2 AND b.fence <= $3`
)

func Open(ctx context.Context, db *sql.DB) (*Ledger, error) {
	l := new(Ledger)
	for _, p := range []struct {
		dst  **sql.Stmt
		text string
	}{{&l.upsert, upsertSQL}, {&l.close, closeSQL}, {&l.merge, mergeSQL}} {
		st, err := db.PrepareContext(ctx, p.text)
		if err != nil {
			return nil, fmt.Errorf("prepare: %w", err)
		}
		*p.dst = st
	}
	return l, nil
}

func hit(res sql.Result, err error) error {
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(ErrStale, err)
	}
	return nil
}

func (l *Ledger) Set(ctx context.Context, fence int64, wallet string, cents int64) error {
	return hit(l.upsert.ExecContext(ctx, wallet, cents, fence))
}

func (l *Ledger) Close(ctx context.Context, fence int64, wallet string) error {
	return hit(l.close.ExecContext(ctx, wallet, fence))
}

func (l *Ledger) Merge(ctx context.Context, fence int64, from, to string) error {
	return hit(l.merge.ExecContext(ctx, from, to, fence))
}
