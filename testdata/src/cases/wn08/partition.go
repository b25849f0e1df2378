package wn08

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

var errBusy = errors.New("partitions are maintained elsewhere")

// session bundles the connection that holds the advisory lock; statements are
// only made through it, and fail when it is gone.
type session struct {
	conn *sql.Conn
	key  int64
}

func open(ctx context.Context, db *sql.DB, key int64) (*session, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	var ok bool
	if err := conn.QueryRowContext(ctx, `SELECT pg_try_advisory_lock($1)`, key).Scan(&ok); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if !ok {
		return nil, errors.Join(errBusy, conn.Close())
	}
	return &session{conn: conn, key: key}, nil
}

func (s *session) close(ctx context.Context) error {
	_, err := s.conn.ExecContext(ctx, `SELECT pg_advisory_unlock($1)`, s.key)
	return errors.Join(err, s.conn.Close())
}

func (s *session) exec(ctx context.Context, q string, args ...any) error {
	_, err := s.conn.ExecContext(ctx, q, args...)
	return err
}

// Maintain records which partitions are closed for writing.
func Maintain(ctx context.Context, db *sql.DB, months []time.Time) (err error) {
	s, err := open(ctx, db, 0x70617274)
	if errors.Is(err, errBusy) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close(context.WithoutCancel(ctx))) }()
	for _, m := range months {
		name := fmt.Sprintf("events_%s", m.Format("2006_01"))
		if err := s.exec(ctx, `UPDATE partition_state SET state = 'closed', closed_at = now() WHERE name = $1`, name); err != nil {
			return fmt.Errorf("close %s: %w", name, err)
		}
	}
	return nil
}
