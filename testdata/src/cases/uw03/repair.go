package uw03

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"example.com/corpus/cases/uw03/placement"
)

// Copier moves the bytes of a volume between nodes.
type Copier interface {
	Copy(ctx context.Context, vol, from, to string) error
}

// Repairer runs beside the placement driver. Evacuations go through the
// driver, a finished copy is recorded with a statement of its own.
type Repairer struct {
	pool *pgxpool.Pool
	drv  *placement.Driver
	cp   Copier
}

func (r *Repairer) Evacuate(ctx context.Context, vols []string, target string) error {
	for _, v := range vols {
		if err := r.drv.Assign(ctx, v, target); err != nil {
			return fmt.Errorf("evacuate %s: %w", v, err)
		}
	}
	return nil
}

func (r *Repairer) Rebuild(ctx context.Context, vol, from, to string) error {
	if err := r.cp.Copy(ctx, vol, from, to); err != nil {
		return err
	}
	tag, err := r.pool.Exec(ctx, // want:W
		`UPDATE volume_map SET node = $2, degraded = false WHERE vol = $1`, vol, to)
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 {
		return fmt.Errorf("volume %s is gone", vol)
	}
	return nil
}
