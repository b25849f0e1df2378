package hc20

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Node remembers in a flag whether it leads; other goroutines look at it.
type Node struct {
	leading atomic.Bool
	pool    *pgxpool.Pool
}

func (n *Node) Elect(ctx context.Context, lock resourcelock.Interface) {
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: 30 * time.Second, RenewDeadline: 20 * time.Second, RetryPeriod: 4 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				n.leading.Store(true)
				<-ctx.Done()
			},
			OnStoppedLeading: func() { n.leading.Store(false) },
		},
	})
}

func (n *Node) Leading() bool { return n.leading.Load() }

// Expire is called by a timer on every node.
func (n *Node) Expire(ctx context.Context, cart int64) error {
	if !n.Leading() {
		return nil
	}
	_, err := n.pool.Exec(ctx, `UPDATE carts SET state = 'expired' WHERE id = $1`, cart) // want:C
	return err
}
