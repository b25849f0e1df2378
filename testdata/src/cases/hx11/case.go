package hx11

import (
	"context"
	"database/sql"
	"log/slog"
	"time"

	"example.com/corpus/cases/hx11/ha"
)

// Promoter moves due campaigns to the active state, on the leader only.
type Promoter struct {
	db *sql.DB
	el *ha.Elector
}

func NewPromoter(db *sql.DB, el *ha.Elector) *Promoter { return &Promoter{db: db, el: el} }

func (p *Promoter) Start(ctx context.Context) {
	go func() {
		t := time.NewTicker(10 * time.Second)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
				if !p.el.IsLeader() {
					continue
				}
				if err := p.promote(ctx); err != nil { // may:C
					slog.Error("promote", "err", err)
				}
			}
		}
	}()
}

func (p *Promoter) promote(ctx context.Context) error {
	ids, err := p.due(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if _, err := p.db.ExecContext(ctx, "UPDATE campaigns SET state = 'active', sent = 0 WHERE id = ?", id); err != nil { // want:C
			return err
		}
	}
	return nil
}

func (p *Promoter) due(ctx context.Context) ([]int64, error) {
	rows, err := p.db.QueryContext(ctx, "SELECT id FROM campaigns WHERE state = 'scheduled' AND starts_at <= NOW()")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ids []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}
