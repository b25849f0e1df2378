package uv20

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

var ErrStale = errors.New("a newer pricing run has written")

// Price is one line of the price list of a region.
type Price struct {
	SKU   string
	Cents int64
}

// List is rebuilt by the pricing run that holds the region's lease.
type List struct{ pool *pgxpool.Pool }

// Set changes a single price; stale runs are refused.
func (l *List) Set(ctx context.Context, fence int64, p Price) error {
	tag, err := l.pool.Exec(ctx,
		`UPDATE tariffs SET cents = $2, fence = $3 WHERE sku = $1 AND fence <= $3`, p.SKU, p.Cents, fence)
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 {
		return ErrStale
	}
	return nil
}

// Rebuild replaces the whole list. It is atomic, but it also throws the stored
// fences away: a run that lost its lease hours ago wins.
func (l *List) Rebuild(ctx context.Context, fence int64, all []Price) error {
	return pgx.BeginFunc(ctx, l.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `TRUNCATE tariffs`); err != nil { // want:W
			return fmt.Errorf("truncate: %w", err)
		}
		n, err := tx.CopyFrom(ctx, pgx.Identifier{"tariffs"}, []string{"sku", "cents", "fence"}, // may:W
			pgx.CopyFromSlice(len(all), func(i int) ([]any, error) {
				return []any{all[i].SKU, all[i].Cents, fence}, nil
			}))
		if err != nil {
			return fmt.Errorf("copy: %w", err)
		}
		if n != int64(len(all)) {
			return fmt.Errorf("copied %d of %d tariffs", n, len(all))
		}
		return nil
	})
}

// Discontinue removes a line.
func (l *List) Discontinue(ctx context.Context, sku string) error {
	_, err := l.pool.Exec(ctx, `DELETE FROM tariffs WHERE sku = $1`, sku) // want:W
	return err
}
