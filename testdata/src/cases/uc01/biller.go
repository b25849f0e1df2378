package uc01

import (
	"context"
	"log/slog"
	"time"

	"github.com/jmoiron/sqlx"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

type subscription struct {
	ID        string    `db:"id"`
	PlanCents int64     `db:"plan_cents"`
	PeriodEnd time.Time `db:"period_end"`
	Months    int       `db:"months"`
}

// Biller closes billing periods. Only the elected replica may do so.
type Biller struct {
	db    *sqlx.DB
	log   *slog.Logger
	every time.Duration
}

func NewBiller(db *sqlx.DB, log *slog.Logger) *Biller {
	return &Biller{db: db, log: log, every: time.Minute}
}

func (b *Biller) Start(ctx context.Context, cs kubernetes.Interface, ns, pod string) {
	lock := &resourcelock.LeaseLock{
		Client:     cs.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: pod},
	}
	lock.LeaseMeta.Name = "biller"
	lock.LeaseMeta.Namespace = ns
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock:          lock,
		LeaseDuration: 15 * time.Second,
		RenewDeadline: 10 * time.Second,
		RetryPeriod:   2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: b.lead,
			OnStoppedLeading: func() { b.log.Info("no longer billing") },
		},
	})
}

func (b *Biller) lead(ctx context.Context) {
	t := time.NewTicker(b.every)
	defer t.Stop()
	for {
		if err := b.pass(ctx); err != nil {
			b.log.Error("billing pass", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

func (b *Biller) pass(ctx context.Context) error {
	var due []subscription
	err := b.db.SelectContext(ctx, &due, `
		SELECT id, plan_cents, period_end, months FROM subscriptions
		WHERE status = 'active' AND period_end <= now() ORDER BY period_end LIMIT 200`)
	if err != nil {
		return err
	}
	for i := range due {
		if err := b.closePeriod(ctx, &due[i]); err != nil {
			b.log.Warn("close period", "subscription", due[i].ID, "err", err)
		}
	}
	return nil
}

func (b *Biller) closePeriod(ctx context.Context, s *subscription) error {
	next := s.PeriodEnd.AddDate(0, s.Months, 0)
	_, err := b.db.ExecContext(ctx, // want:C
		`UPDATE subscriptions SET period_start = period_end, period_end = $2, owed_cents = owed_cents + $3 WHERE id = $1`,
		s.ID, next, s.PlanCents)
	return err
}
