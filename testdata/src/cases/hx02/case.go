package hx02

import (
	"context"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"example.com/corpus/cases/hx02/store"
)

// Dispatcher assigns cron entries to live nodes. Only the elected one does it.
type Dispatcher struct {
	cli   *clientv3.Client
	sched *store.Schedule
	node  string
	pick  func(store.Entry) (string, bool)
}

func New(cli *clientv3.Client, node string, pick func(store.Entry) (string, bool)) *Dispatcher {
	return &Dispatcher{cli: cli, sched: store.New(cli, "/cron/entries/"), node: node, pick: pick}
}

func (d *Dispatcher) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := d.term(ctx); err != nil {
			fmt.Println("term ended:", err)
		}
	}
	return ctx.Err()
}

func (d *Dispatcher) term(ctx context.Context) error {
	sess, err := concurrency.NewSession(d.cli, concurrency.WithTTL(15))
	if err != nil {
		return err
	}
	defer sess.Close()
	el := concurrency.NewElection(sess, "/cron/leader")
	if err := el.Campaign(ctx, d.node); err != nil {
		return err
	}
	defer func() { _ = el.Resign(context.WithoutCancel(ctx)) }()

	tick := time.NewTicker(5 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-sess.Done():
			return fmt.Errorf("session of %s expired", d.node)
		case <-tick.C:
			if err := d.rebalance(ctx); err != nil { // may:C
				return err
			}
		}
	}
}

// rebalance reads the whole schedule and writes what changed. The reads may
// take long enough for the session to run out.
func (d *Dispatcher) rebalance(ctx context.Context) error {
	all, err := d.sched.All(ctx)
	if err != nil {
		return err
	}
	for _, e := range all {
		node, ok := d.pick(e)
		if !ok {
			if err := d.sched.Remove(ctx, e.Name); err != nil { // want:C
				return err
			}
			continue
		}
		if node == e.Node {
			continue
		}
		e.Node = node
		if err := d.sched.Put(ctx, e); err != nil { // may:C
			return err
		}
	}
	return nil
}
