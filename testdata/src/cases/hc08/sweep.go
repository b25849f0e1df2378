package hc08

import (
	"context"
	"database/sql"
	"log"
)

type Sweeper struct {
	db  *sql.DB
	key int64
}

// Once holds the advisory lock on a connection of its own, but the statements
// go through the pool: the lock's session can be gone while they still run.
func (s *Sweeper) Once(ctx context.Context) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()

	var ok bool
	if err := conn.QueryRowContext(ctx, "select pg_try_advisory_lock($1)", s.key).Scan(&ok); err != nil {
		return err
	}
	if !ok {
		log.Print("another sweeper is active")
		return nil
	}
	defer conn.ExecContext(context.Background(), "select pg_advisory_unlock($1)", s.key)

	rows, err := s.db.QueryContext(ctx, "select id from uploads where state = 'stuck'")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return err
		}
		if err := s.reset(ctx, id); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (s *Sweeper) reset(ctx context.Context, id int64) error {
	_, err := s.db.ExecContext(ctx, "update uploads set state = 'new', bytes = 0 where id = $1", id) // want:C
	return err
}
