// Package kb06 spreads build agents' semaphores over several controllers.
package kb06

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	sq "github.com/Masterminds/squirrel"
)

type Semaphores struct {
	db         *sql.DB
	controller string
	inactive   time.Duration
}

var psql = sq.StatementBuilder.PlaceholderFormat(sq.Dollar)

func (s *Semaphores) Beat(ctx context.Context) error {
	_, err := psql.Insert("controllers").
		Columns("name", "heartbeat").
		Values(s.controller, time.Now()). // may:T
		Suffix("ON CONFLICT (name) DO UPDATE SET heartbeat = EXCLUDED.heartbeat").
		RunWith(s.db).ExecContext(ctx)
	return err
}

// Holders counts the slots held by controllers that are still there.
func (s *Semaphores) Holders(ctx context.Context, sem string) (int, error) {
	var n int
	err := psql.Select("count(*)"). // want:T
					From("semaphore_holders h").
					Join("controllers c ON c.name = h.controller").
					Where(sq.Eq{"h.semaphore": sem}).
					Where(sq.GtOrEq{"c.heartbeat": time.Now().Add(-s.inactive)}).
					RunWith(s.db).QueryRowContext(ctx).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("holders of %s: %w", sem, err)
	}
	return n, nil
}

// Reclaim frees the slots of controllers that went silent.
func (s *Semaphores) Reclaim(ctx context.Context) (int64, error) {
	cutoff := time.Now().Add(-s.inactive)
	gone := sq.Select("name").From("controllers").Where(sq.Lt{"heartbeat": cutoff}) // want:T
	inner, args, err := gone.ToSql()
	if err != nil {
		return 0, err
	}
	res, err := psql.Delete("semaphore_holders"). // may:T
							Where("controller IN ("+inner+")", args...).
							RunWith(s.db).ExecContext(ctx)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}
