package mn07

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"
)

// Runner is a registered worker; all times are the database's.
type Runner struct {
	ID          string `gorm:"primaryKey"`
	Alive       bool
	HeartbeatAt time.Time
}

func (Runner) TableName() string { return "fleet_runners" }

var ErrUnknown = errors.New("runner is not registered")

type Fleet struct {
	db      *gorm.DB
	timeout time.Duration
}

func (f *Fleet) Beat(ctx context.Context, id string) error {
	res := f.db.WithContext(ctx).Model(&Runner{}).Where("id = ?", id).
		Update("heartbeat_at", gorm.Expr("now()"))
	if res.Error != nil {
		return fmt.Errorf("beat: %w", res.Error)
	}
	if res.RowsAffected == 0 {
		return ErrUnknown
	}
	return nil
}

// Sweep marks the silent ones, by the clock that stamped the beats.
func (f *Fleet) Sweep(ctx context.Context) (int64, error) {
	res := f.db.WithContext(ctx).Model(&Runner{}).
		Where("alive AND heartbeat_at < now() - make_interval(secs => ?)", f.timeout.Seconds()).
		Update("alive", false)
	return res.RowsAffected, res.Error
}

// Run sweeps, and warns if a sweep itself is slow; both times are local.
func (f *Fleet) Run(ctx context.Context, warn func(time.Duration)) error {
	t := time.NewTicker(f.timeout / 4)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
		}
		start := time.Now()
		if _, err := f.Sweep(ctx); err != nil {
			return err
		}
		if d := time.Since(start); d > f.timeout/4 {
			warn(d)
		}
	}
}
