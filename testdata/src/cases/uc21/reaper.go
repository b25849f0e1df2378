package uc21

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
)

type workerRow struct {
	ID            string    `db:"id"`
	Host          string    `db:"host"`
	LastHeartbeat time.Time `db:"last_heartbeat"`
}

// Pool keeps track of render workers in the shared database.
type Pool struct {
	db      *sqlx.DB
	id      string
	timeout time.Duration
}

// Beat is called by each worker with its own clock.
func (p *Pool) Beat(ctx context.Context) error {
	_, err := p.db.ExecContext(ctx, p.db.Rebind(`UPDATE workers SET last_heartbeat = ? WHERE id = ?`), // may:T|S
		time.Now(), p.id)
	return err
}

func (p *Pool) missing(ctx context.Context) ([]workerRow, error) {
	var dead []workerRow
	limit := time.Now().Add(-p.timeout)
	err := p.db.SelectContext(ctx, &dead, p.db.Rebind( // want:T
		`SELECT id, host, last_heartbeat FROM workers WHERE state = 'up' AND last_heartbeat < ?`), limit)
	return dead, err
}

// Reclaim gives the frames of silent workers back to the queue.
func (p *Pool) Reclaim(ctx context.Context) (int64, error) {
	dead, err := p.missing(ctx)
	if err != nil {
		return 0, err
	}
	var total int64
	for _, w := range dead {
		res, err := p.db.ExecContext(ctx, p.db.Rebind( // may:C|W
			`UPDATE frames SET state = 'queued', worker_id = NULL WHERE worker_id = ? AND state = 'rendering'`), w.ID)
		if err != nil {
			return total, fmt.Errorf("worker %s: %w", w.ID, err)
		}
		n, err := res.RowsAffected()
		if err != nil {
			return total, err
		}
		total += n
	}
	return total, nil
}
