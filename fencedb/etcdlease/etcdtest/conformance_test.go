package etcdtest

import (
	"context"
	"crypto/rand"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/etcdlease"
	"github.com/fencelint/fence/fencedb/fencedbtest"
)

func TestCoordinatorConformance(t *testing.T) {
	cluster := on(t)
	fencedbtest.RunCoordinator(t, fencedbtest.CoordinatorSuite{
		MinTTL: time.Second,
		Late:   3 * time.Second, // etcd looks for leases that are over twice a second
		New: func(t *testing.T) fencedbtest.CoordinatorUnderTest {
			namespace, client := "a name/"+rand.Text(), cluster.client(t, nil)
			open := func() *etcdlease.Coordinator {
				c, err := etcdlease.New(client, etcdlease.Namespace(namespace))
				if err != nil {
					t.Fatal(err)
				}
				return c
			}
			guard := guarded(t, client)
			return fencedbtest.CoordinatorUnderTest{
				Open: func() fencedb.Coordinator { return open() },
				Break: func(ctx context.Context, resource string, noDelay bool) error {
					_, err := open().Break(ctx, etcdlease.BreakRequest{Resource: resource, Reason: "a test", Actor: "its operator", NoDelay: noDelay})
					return err
				},
				Restart: func(context.Context) error {
					cluster.stopAll()
					return cluster.startAll()
				},
				Guard: &guard,
			}
		},
	})
}

func TestGuardConformance(t *testing.T) {
	client := on(t).client(t, nil)
	fencedbtest.RunGuard(t, fencedbtest.GuardSuite{
		New: func(t *testing.T) fencedbtest.GuardUnderTest { return guarded(t, client) },
	})
}

// guarded returns a guard that was never raised, and a write under it.
func guarded(t testing.TB, client *clientv3.Client) fencedbtest.GuardUnderTest {
	prefix := "guards/" + rand.Text()
	g, err := etcdlease.NewGuard(client, prefix)
	if err != nil {
		t.Fatal(err)
	}
	return fencedbtest.GuardUnderTest{Guard: g, Write: func(ctx context.Context, token fencedb.Token) error {
		_, err := g.Fenced(ctx, token, clientv3.OpPut(prefix+"/written", token.String()))
		return err
	}}
}
