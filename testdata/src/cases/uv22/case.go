package uv22

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Settlements are written by the node that was elected for a market. The
// election row is only read: a snapshot does not conflict with the update that
// elects somebody else meanwhile.
type Settlements struct {
	db     *sql.DB
	market string
	term   int64
}

var ErrDeposed = errors.New("no longer elected")

func (s *Settlements) begin(ctx context.Context) (*sql.Tx, error) {
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	if err != nil {
		return nil, fmt.Errorf("begin: %w", err)
	}
	var term int64
	err = tx.QueryRowContext(ctx, `SELECT term FROM market_election WHERE market = $1`, s.market).Scan(&term)
	if err == nil && term != s.term {
		err = ErrDeposed
	}
	if err != nil {
		_ = tx.Rollback()
		return nil, err
	}
	return tx, nil
}

func (s *Settlements) Close(ctx context.Context, day string, total int64) error {
	tx, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, // want:W|C
		`UPDATE settlement SET total = $3, closed = true WHERE market = $1 AND day = $2`, s.market, day, total); err != nil {
		return err
	}
	return tx.Commit()
}
