// Package shop takes orders from customers; it never owns a region.
package shop

import (
	"context"
	"database/sql"
)

type Shop struct{ DB *sql.DB }

func (s *Shop) Place(ctx context.Context, region, address string) (id int64, err error) {
	err = s.DB.QueryRowContext(ctx,
		`INSERT INTO orders (region, address, status) VALUES ($1, $2, 'placed') RETURNING id`, region, address).Scan(&id)
	return id, err
}

func (s *Shop) Move(ctx context.Context, id int64, address string) error {
	_, err := s.DB.ExecContext(ctx, `UPDATE orders SET address = $2 WHERE id = $1`, id, address)
	return err
}
