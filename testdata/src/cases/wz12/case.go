package wz12

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

var ErrStaleFeed = errors.New("feed handler was replaced")

type Quote struct {
	Symbol   string
	Bid, Ask int64
}

type Feed struct {
	pool  *pgxpool.Pool
	epoch int64
}

// Snapshot loads through a temporary table: COPY cannot compare, the INSERT
// that follows does, row by row.
func (f *Feed) Snapshot(ctx context.Context, qs []Quote) error {
	return pgx.BeginFunc(ctx, f.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `CREATE TEMP TABLE quotes_in (symbol text, bid bigint, ask bigint) ON COMMIT DROP`); err != nil {
			return fmt.Errorf("staging: %w", err)
		}
		if _, err := tx.CopyFrom(ctx, pgx.Identifier{"quotes_in"}, []string{"symbol", "bid", "ask"},
			pgx.CopyFromSlice(len(qs), func(i int) ([]any, error) {
				return []any{qs[i].Symbol, qs[i].Bid, qs[i].Ask}, nil
			})); err != nil {
			return fmt.Errorf("copy: %w", err)
		}
		tag, err := tx.Exec(ctx, `
			INSERT INTO price_quotes AS q (symbol, bid, ask, feed_epoch)
			SELECT symbol, bid, ask, $1 FROM quotes_in
			ON CONFLICT (symbol) DO UPDATE
			SET bid = excluded.bid, ask = excluded.ask, feed_epoch = excluded.feed_epoch
			WHERE q.feed_epoch <= excluded.feed_epoch`, f.epoch)
		if err != nil {
			return fmt.Errorf("merge: %w", err)
		}
		if tag.RowsAffected() != int64(len(qs)) {
			return ErrStaleFeed
		}
		return nil
	})
}

// Tick applies a handful of changes without a staging table.
func (f *Feed) Tick(ctx context.Context, symbols []string, bids, asks []int64) error {
	rows, err := f.pool.Query(ctx, `
		UPDATE price_quotes AS q
		SET bid = u.bid, ask = u.ask, feed_epoch = @epoch
		FROM unnest(@symbols::text[], @bids::bigint[], @asks::bigint[]) AS u(symbol, bid, ask)
		WHERE q.symbol = u.symbol AND @epoch >= q.feed_epoch
		RETURNING q.symbol`,
		pgx.NamedArgs{"epoch": f.epoch, "symbols": symbols, "bids": bids, "asks": asks})
	if err != nil {
		return fmt.Errorf("tick: %w", err)
	}
	done, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("tick: %w", err)
	}
	if len(done) < len(symbols) {
		return ErrStaleFeed
	}
	return nil
}
