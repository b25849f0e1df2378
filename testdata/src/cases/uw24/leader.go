package uw24

import (
	"context"
	"database/sql"
	"errors"
)

var ErrNotLeader = errors.New("the fleet has another leader")

type Leader struct {
	db    *sql.DB
	fleet string
	term  int64
}

// Replan reads the term in a snapshot. A repeatable read transaction is not
// told that the term has moved: it writes other rows than the new leader did.
func (l *Leader) Replan(ctx context.Context, steps [][]byte) error {
	tx, err := l.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	var term int64
	if err := tx.QueryRowContext(ctx, // may:W
		`SELECT term FROM fleet_leader WHERE fleet = $1`, l.fleet).Scan(&term); err != nil {
		return err
	}
	if term != l.term {
		return ErrNotLeader
	}
	for i, s := range steps {
		if _, err := tx.ExecContext(ctx, // want:W
			`INSERT INTO fleet_plan (fleet, step, body) VALUES ($1, $2, $3)`, l.fleet, i, s); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// Retarget looks at the leader's row in a sub-select, which locks nothing: an
// update that waits for the node's row still sees the old term.
func (l *Leader) Retarget(ctx context.Context, node, target string) error {
	res, err := l.db.ExecContext(ctx, // want:W
		`UPDATE fleet_node SET target = $2
		 WHERE id = $1 AND EXISTS (SELECT 1 FROM fleet_leader g WHERE g.fleet = $3 AND g.term = $4)`,
		node, target, l.fleet, l.term)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, ErrNotLeader)
	}
	return nil
}
