package uf11

import (
	"context"
	"errors"
	"log"
	"time"

	"github.com/uptrace/bun"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

type Rollout struct {
	bun.BaseModel `bun:"table:rollouts"`

	ID   int64 `bun:",pk"`
	Step int
	Next time.Time
}

type Promoter struct {
	db   bun.IDB
	id   string
	kube kubernetes.Interface
}

// Run is the program: the elected replica promotes, the others wait.
func (p *Promoter) Run(ctx context.Context) {
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: "deploy", Name: "promoter"},
			Client:     p.kube.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: p.id},
		},
		LeaseDuration: 15 * time.Second,
		RenewDeadline: 10 * time.Second,
		RetryPeriod:   2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: p.promoteLoop, // may:C
			OnStoppedLeading: func() { log.Fatal("lost the lease") },
		},
	})
}

func (p *Promoter) promoteLoop(ctx context.Context) {
	t := time.NewTicker(5 * time.Second)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			if err := p.promote(ctx); err != nil && !errors.Is(err, context.Canceled) {
				log.Printf("promote: %v", err)
			}
		}
	}
}

func (p *Promoter) promote(ctx context.Context) error {
	var due []Rollout
	if err := p.db.NewSelect().Model(&due).Where("next <= now()").Scan(ctx); err != nil {
		return err
	}
	for _, r := range due {
		_, err := p.db.NewUpdate().Model((*Rollout)(nil)). // want:C
									Set("step = ?", r.Step+1).
									Set("next = now() + interval '10 minutes'").
									Where("id = ?", r.ID).
									Exec(ctx)
		if err != nil {
			return err
		}
	}
	return nil
}
