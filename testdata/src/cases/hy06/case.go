package hy06

import (
	"context"
	"database/sql"
	"time"

	sq "github.com/Masterminds/squirrel"
)

var psql = sq.StatementBuilder.PlaceholderFormat(sq.Dollar)

type NodeStore struct{ db *sql.DB }

// Touch is called by every node each few seconds.
func (s *NodeStore) Touch(ctx context.Context, node string) error { // may:S|T
	_, err := psql.Update("nodes").Set("last_seen", time.Now().UTC()).
		Where(sq.Eq{"name": node}).RunWith(s.db).ExecContext(ctx)
	return err
}

// Dead lists nodes that have not been seen since the cutoff.
func (s *NodeStore) Dead(ctx context.Context, cutoff time.Time) ([]string, error) {
	rows, err := psql.Select("name").From("nodes").
		Where(sq.Eq{"drained": false}).
		Where(sq.Lt{"last_seen": cutoff}). // want:T
		RunWith(s.db).QueryContext(ctx)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var n string
		if err := rows.Scan(&n); err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, rows.Err()
}

func (s *NodeStore) Unassign(ctx context.Context, node string) error {
	_, err := psql.Update("volumes").Set("node", nil).
		Where(sq.Eq{"node": node}).RunWith(s.db).ExecContext(ctx)
	return err
}

type Failover struct {
	st    *NodeStore
	grace time.Duration
}

// Tick takes the volumes away from nodes that look dead.
func (f *Failover) Tick(ctx context.Context) error {
	dead, err := f.st.Dead(ctx, time.Now().UTC().Add(-f.grace)) // may:T
	if err != nil {
		return err
	}
	for _, n := range dead {
		if err := f.st.Unassign(ctx, n); err != nil {
			return err
		}
	}
	return nil
}
