package ud03

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

const checkpointPrefix = "/backup/log/checkpoint/"

type RegionSource interface {
	MinResolved(ctx context.Context, task string) (uint64, error)
}

// Advancer moves the global checkpoint of a log backup task forward.
type Advancer struct {
	cli   *clientv3.Client
	src   RegionSource
	node  string
	tasks []string
}

// Run campaigns once and then advances for as long as the process lives.
func (a *Advancer) Run(ctx context.Context) error { // may:M
	s, err := concurrency.NewSession(a.cli, concurrency.WithTTL(30))
	if err != nil {
		return err
	}
	defer s.Close()
	el := concurrency.NewElection(s, "/backup/log/owner")
	if err := el.Campaign(ctx, a.node); err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	tick := time.NewTicker(10 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		for _, t := range a.tasks {
			ts, err := a.src.MinResolved(ctx, t)
			if err != nil {
				return err
			}
			var buf [8]byte
			binary.BigEndian.PutUint64(buf[:], ts)
			if _, err := a.cli.Put(ctx, checkpointPrefix+t, string(buf[:])); err != nil { // want:C|W
				return fmt.Errorf("checkpoint of %s: %w", t, err)
			}
		}
	}
}
