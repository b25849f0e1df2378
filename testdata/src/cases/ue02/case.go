package ue02

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Settler books due invoices. Several replicas run, one of them works.
type Settler struct {
	pool  *pgxpool.Pool
	kube  kubernetes.Interface
	ns    string
	pod   string
	every time.Duration
}

func (s *Settler) Run(ctx context.Context) {
	lock := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Name: "invoice-settler", Namespace: s.ns},
		Client:     s.kube.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: s.pod},
	}
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock:          lock,
		LeaseDuration: 15 * time.Second,
		RenewDeadline: 10 * time.Second,
		RetryPeriod:   2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: s.loop,
			OnStoppedLeading: func() { slog.Info("lost leadership", "pod", s.pod) },
		},
	})
}

func (s *Settler) loop(ctx context.Context) {
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := s.settleDue(ctx); err != nil {
				slog.Error("settle", "err", err)
			}
		}
	}
}

type invoice struct {
	ID      int64
	Cents   int64
	Account int64
}

func (s *Settler) settleDue(ctx context.Context) error {
	rows, err := s.pool.Query(ctx, `SELECT id, cents, account FROM invoice WHERE state = 'due' ORDER BY id LIMIT 200`)
	if err != nil {
		return err
	}
	due, err := pgx.CollectRows(rows, pgx.RowToStructByPos[invoice])
	if err != nil {
		return fmt.Errorf("collect: %w", err)
	}
	for _, in := range due {
		fee := in.Cents * 3 / 100
		if _, err := s.pool.Exec(ctx, `UPDATE invoice SET state = 'settled', fee_cents = $2, settled_at = now() WHERE id = $1`, in.ID, fee); err != nil { // want:C
			return fmt.Errorf("invoice %d: %w", in.ID, err)
		}
	}
	return nil
}
