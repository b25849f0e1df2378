package wz07

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

type Total struct {
	Store int32
	Cents int64
}

// Loader rewrites the totals after the night's import.
type Loader struct {
	conn    *pgx.Conn
	columns []string
}

func NewLoader(c *pgx.Conn) *Loader {
	return &Loader{conn: c, columns: []string{"day", "store", "cents"}}
}

// Rebuild empties the table and loads it again in one transaction.
func (l *Loader) Rebuild(ctx context.Context, days map[time.Time][]Total) error {
	return pgx.BeginFunc(ctx, l.conn, func(tx pgx.Tx) error {
		if err := l.clear(ctx, tx); err != nil {
			return err
		}
		var n int64
		for day, ts := range days {
			c, err := l.load(ctx, tx, day, ts)
			if err != nil {
				return fmt.Errorf("load %s: %w", day.Format(time.DateOnly), err)
			}
			n += c
		}
		_, err := tx.Exec(ctx, `INSERT INTO daily_totals_log (what) VALUES ($1)`, fmt.Sprintf("rebuilt, %d rows", n))
		return err
	})
}

func (l *Loader) clear(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, "TRUNCATE TABLE daily_totals"); err != nil { // want:W
		return fmt.Errorf("truncate: %w", err)
	}
	return nil
}

func (l *Loader) load(ctx context.Context, tx pgx.Tx, day time.Time, ts []Total) (int64, error) {
	src := pgx.CopyFromSlice(len(ts), func(i int) ([]any, error) {
		return []any{day, ts[i].Store, ts[i].Cents}, nil
	})
	return tx.CopyFrom(ctx, pgx.Identifier{"daily_totals"}, l.columns, src) // want:W
}

// Correct is a single late correction by the current owner.
func (l *Loader) Correct(ctx context.Context, token int64, day time.Time, t Total) (bool, error) {
	tag, err := l.conn.Exec(ctx, `
		INSERT INTO daily_totals AS d (day, store, cents, fence) VALUES ($1, $2, $3, $4)
		ON CONFLICT (day, store) DO UPDATE SET cents = excluded.cents, fence = excluded.fence
		WHERE d.fence <= excluded.fence`, day, t.Store, t.Cents, token)
	return tag.RowsAffected() == 1, err
}
