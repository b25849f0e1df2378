package un02

import (
	"context"
	"log/slog"
	"os"
	"time"

	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// reportBacklog lets one replica log how many orders wait.
func (s *Shop) reportBacklog(ctx context.Context, lock resourcelock.Interface) {
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock:          lock,
		LeaseDuration: 15 * time.Second,
		RenewDeadline: 10 * time.Second,
		RetryPeriod:   2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: s.watchBacklog,
			OnStoppedLeading: func() { os.Exit(3) },
		},
	})
}

func (s *Shop) watchBacklog(ctx context.Context) {
	t := time.NewTicker(30 * time.Second)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			var n int64
			if err := s.db.WithContext(ctx).Model(&Order{}).Where("state = ?", "new").Count(&n).Error; err != nil {
				slog.Error("backlog", "err", err)
				continue
			}
			slog.Info("backlog", "orders", n)
		}
	}
}
