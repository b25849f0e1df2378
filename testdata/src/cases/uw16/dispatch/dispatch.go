// Package dispatch plans routes as the owner of a depot.
package dispatch

import (
	"context"
	"database/sql"
	"errors"
)

var ErrStale = errors.New("depot is planned by another dispatcher")

type Planner struct {
	db    *sql.DB
	token int64
}

func (p *Planner) one(res sql.Result, err error) error {
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err == nil && n == 0 {
		err = ErrStale
	}
	return err
}

func (p *Planner) Route(ctx context.Context, id int64, route string) error {
	return p.one(p.db.ExecContext(ctx,
		`UPDATE shipment SET route = $2, fence = $3 WHERE id = $1 AND fence <= $3`, id, route, p.token))
}

// Annotate sets what anybody may set.
func (p *Planner) Annotate(ctx context.Context, id int64, note string) error {
	return p.one(p.db.ExecContext(ctx, `UPDATE shipment SET note = $2 WHERE id = $1`, id, note))
}

// Handover explains itself in the note, and sets the carrier on the way.
func (p *Planner) Handover(ctx context.Context, id int64, carrier string) error {
	return p.one(p.db.ExecContext(ctx, // want:W
		`UPDATE shipment SET note = note || ' handed over to ' || $2, carrier = $2 WHERE id = $1`, id, carrier))
}
