package etcdlease_test

import (
	"context"
	"errors"
	"log"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/etcdlease"
)

// Work under a lease whose writes go to the same etcd cluster: a holder that was superseded
// changes nothing, however late its write arrives.
func Example() {
	ctx := context.Background()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"https://etcd-1:2379", "https://etcd-2:2379", "https://etcd-3:2379"}})
	if err != nil {
		log.Fatal(err)
	}

	coordinator, err := etcdlease.New(client, etcdlease.Namespace("orders"))
	if err != nil {
		log.Fatal(err)
	}
	guard, err := etcdlease.NewGuard(client, etcdlease.DefaultPrefix)
	if err != nil {
		log.Fatal(err)
	}
	err = fencedb.Hold(ctx, coordinator, "orders:daily", func(ctx context.Context, lease *fencedb.Lease) error {
		_, err := guard.Fenced(ctx, lease.Token(), clientv3.OpPut("reports/orders:daily", "done"))
		return err
	}, fencedb.Guards(guard))
	if err := errors.Join(err, client.Close()); err != nil {
		log.Fatal(err)
	}
}

// An operator ends the grant of a holder that hangs, and sees who holds what.
func ExampleCoordinator_Break() {
	ctx := context.Background()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"https://etcd-1:2379"}})
	if err != nil {
		log.Fatal(err)
	}
	coordinator, err := etcdlease.New(client, etcdlease.Namespace("orders"))
	if err != nil {
		log.Fatal(err)
	}
	if _, err := coordinator.Break(ctx, etcdlease.BreakRequest{Resource: "orders:daily", Reason: "it does not make progress", Actor: "on-call"}); err != nil {
		log.Fatal(err)
	}
	all, err := coordinator.List(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, o := range all {
		log.Printf("%s: %s %s, free in %v", o.Resource, o.Owner, o.End, o.TakeoverIn())
	}
	if err := client.Close(); err != nil {
		log.Fatal(err)
	}
}
