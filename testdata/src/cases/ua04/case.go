// Package ua04 hands due deliveries to couriers.
package ua04

import (
	"context"
	"database/sql"
	"log/slog"
	"time"

	"example.com/corpus/cases/ua04/elect"
)

type Dispatcher struct {
	db  *sql.DB
	el  *elect.Elector
	log *slog.Logger
}

type due struct {
	id      int64
	zone    string
	courier sql.NullInt64
}

func (d *Dispatcher) Loop(ctx context.Context) {
	t := time.NewTicker(3 * time.Second)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			if err := d.tick(ctx); err != nil {
				d.log.Error("tick", "err", err)
			}
		}
	}
}

func (d *Dispatcher) tick(ctx context.Context) error {
	if !d.el.Leading() {
		return nil
	}
	list, err := d.due(ctx)
	if err != nil {
		return err
	}
	for _, x := range list {
		var courier int64
		err := d.db.QueryRowContext(ctx, `SELECT id FROM courier WHERE zone = $1 AND free ORDER BY last_trip LIMIT 1`, x.zone).Scan(&courier)
		if err == sql.ErrNoRows {
			continue
		}
		if err != nil {
			return err
		}
		if _, err := d.db.ExecContext(ctx, `UPDATE delivery SET courier_id = $2, state = 'assigned' WHERE id = $1`, x.id, courier); err != nil { // want:C
			return err
		}
	}
	return nil
}

func (d *Dispatcher) due(ctx context.Context) ([]due, error) {
	rows, err := d.db.QueryContext(ctx, `SELECT id, zone, courier_id FROM delivery WHERE state = 'ready' ORDER BY id LIMIT 200`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []due
	for rows.Next() {
		var x due
		if err := rows.Scan(&x.id, &x.zone, &x.courier); err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, rows.Err()
}
