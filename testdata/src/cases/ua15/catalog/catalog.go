// Package catalog stores editions of a product catalogue.
package catalog

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

type Edition struct {
	Shop   string
	Number int64
	Body   []byte
}

type Store struct{ pool *pgxpool.Pool }

func Open(pool *pgxpool.Pool) *Store { return &Store{pool: pool} }

func (s *Store) Drafts(ctx context.Context) ([]Edition, error) {
	rows, err := s.pool.Query(ctx, `SELECT shop, number, body FROM catalog_draft WHERE ready ORDER BY shop`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Edition])
}

func (s *Store) Publish(ctx context.Context, e Edition) error {
	_, err := s.pool.Exec(ctx, `UPDATE catalog_live SET number = $2, body = $3 WHERE shop = $1`, e.Shop, e.Number, e.Body)
	return err
}
