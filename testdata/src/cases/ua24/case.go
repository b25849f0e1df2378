// Package ua24 watches over the edge nodes of a CDN.
package ua24

import (
	"context"
	"log/slog"
	"time"

	"github.com/uptrace/bun"
)

type EdgeNode struct {
	bun.BaseModel `bun:"table:edge_node,alias:n"`

	Name          string    `bun:",pk"`
	Region        string    `bun:",notnull"`
	State         string    `bun:",notnull"`
	LastHeartbeat time.Time `bun:",notnull"`
	Streams       int
}

type Overseer struct {
	db      *bun.DB
	silence time.Duration
}

// Sweep declares nodes lost that have been silent for too long; their streams
// are then placed elsewhere.
func (o *Overseer) Sweep(ctx context.Context) (int64, error) {
	limit := time.Now().Add(-o.silence)
	res, err := o.db.NewUpdate().Model((*EdgeNode)(nil)). // want:T
								Set("state = ?", "lost").
								Where("state = ?", "up").
								Where("last_heartbeat < ?", limit).
								Exec(ctx)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// Up lists the nodes of a region for the placement page.
func (o *Overseer) Up(ctx context.Context, region string) ([]EdgeNode, error) {
	var ns []EdgeNode
	err := o.db.NewSelect().Model(&ns).Where("region = ?", region).Where("state = ?", "up").Order("name").Scan(ctx)
	return ns, err
}

func (o *Overseer) Run(ctx context.Context) {
	t := time.NewTicker(o.silence / 2)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			n, err := o.Sweep(ctx)
			if err != nil {
				slog.Error("sweep", "err", err)
				continue
			}
			if n > 0 {
				slog.Warn("edge nodes lost", "count", n)
			}
		}
	}
}
