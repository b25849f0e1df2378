package ue15

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/uptrace/bun"
)

// Pipeline is run by one agent at a time; every takeover raises the epoch.
type Pipeline struct {
	bun.BaseModel `bun:"table:pipeline,alias:p"`

	ID     int64  `bun:",pk"`
	Agent  string `bun:"agent"`
	Epoch  int64  `bun:"epoch"`
	Offset int64  `bun:"source_offset"`
	Status string `bun:"status"`
}

var ErrStaleEpoch = errors.New("pipeline was taken over")

type Agent struct {
	db   *bun.DB
	name string
}

type Run struct {
	a     *Agent
	id    int64
	epoch int64
}

// Take makes this agent the runner.
func (a *Agent) Take(ctx context.Context, id int64) (*Run, error) {
	p := &Pipeline{ID: id}
	res, err := a.db.NewUpdate().Model(p).
		Set("agent = ?", a.name).
		Set("epoch = epoch + 1").
		WherePK().
		Returning("epoch").
		Exec(ctx)
	if err != nil {
		return nil, fmt.Errorf("take pipeline %d: %w", id, err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return nil, errors.Join(err, sql.ErrNoRows)
	}
	return &Run{a: a, id: id, epoch: p.Epoch}, nil
}

func (r *Run) stale(ctx context.Context) (bool, error) {
	var epoch int64
	err := r.a.db.NewSelect().Model((*Pipeline)(nil)).Column("epoch").Where("id = ?", r.id).Scan(ctx, &epoch)
	if err != nil {
		return false, err
	}
	return epoch > r.epoch, nil
}

// Commit stores how far the source was read.
func (r *Run) Commit(ctx context.Context, offset int64) error {
	old, err := r.stale(ctx)
	if err != nil {
		return fmt.Errorf("read epoch: %w", err)
	}
	if old {
		return ErrStaleEpoch
	}
	_, err = r.a.db.NewUpdate(). // want:C|L|W
					Model(&Pipeline{ID: r.id, Offset: offset, Status: "running"}).
					Column("source_offset", "status").
					WherePK().
					Exec(ctx)
	return err
}
