package etcdtest

import (
	"context"
	"fmt"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelint/fence/fencedb"
)

// BenchmarkRequests is what grants, renewals and fenced writes cost beside a bare put in the
// same cluster, which does not sync its disk.
func BenchmarkRequests(b *testing.B) {
	client := on(b).client(b, nil)
	c := coordinator(b, client)
	ctx := context.Background()
	guard := guarded(b, client)
	r := ask("held", "g", time.Hour)
	r.Guards = []fencedb.Guard{guard.Guard}
	g := acquire(b, c, r)
	for _, bench := range []struct {
		name string
		do   func(n int) error
	}{
		{"put", func(int) error { _, err := client.Put(ctx, "bench", "x"); return err }},
		{"keepalive", func() func(int) error {
			l, err := client.Grant(ctx, 3600)
			if err != nil {
				b.Fatal(err)
			}
			return func(int) error { _, err := client.KeepAliveOnce(ctx, l.ID); return err }
		}()},
		{"renew", func(int) error {
			_, err := c.Renew(ctx, fencedb.RenewRequest{Token: g.Token, TTL: time.Hour})
			return err
		}},
		{"acquire-release", func(n int) error {
			g, err := c.Acquire(ctx, ask("r", fmt.Sprintf("%s-%d-%d", "g", time.Now().UnixNano(), n), time.Hour))
			if err != nil {
				return err
			}
			return c.Release(ctx, g.Token)
		}},
		{"refused", func(n int) error {
			if _, err := c.Acquire(ctx, ask("held", fmt.Sprintf("other-%d", n), time.Hour)); err == nil {
				return fmt.Errorf("granted what is held")
			}
			return nil
		}},
		{"fenced-put", func(int) error { return guard.Write(ctx, g.Token) }},
		{"txn-put", func(int) error {
			_, err := client.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision("none"), "=", 0)).Then(clientv3.OpPut("bench", "x")).Commit()
			return err
		}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			for n := range b.N {
				if err := bench.do(n); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
