package ue10

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"example.com/corpus/cases/ue10/leader"
	"example.com/corpus/cases/ue10/store"
)

type NextFunc func(cron string, after time.Time) (time.Time, error)

// Scheduler advances the schedules while this node leads.
type Scheduler struct {
	el   *leader.Elector
	st   *store.Schedules
	next NextFunc
}

func (s *Scheduler) Start(ctx context.Context) {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			if err := s.Tick(ctx); err != nil {
				slog.Error("tick", "err", err)
			}
		}
	}
}

func (s *Scheduler) Tick(ctx context.Context) error {
	if !s.el.IsLeader() {
		return nil
	}
	due, err := s.st.Due(ctx, 100)
	if err != nil {
		return err
	}
	for _, d := range due {
		at, err := s.next(d.Cron, d.Next)
		if err != nil {
			slog.Warn("bad cron expression", "id", d.ID, "cron", d.Cron)
			continue
		}
		if err := s.st.Advance(ctx, d.ID, at, d.Runs+1); err != nil { // want:C
			return fmt.Errorf("schedule %d: %w", d.ID, err)
		}
	}
	return nil
}
