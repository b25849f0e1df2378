package fencedb_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/fencedbtest"
)

var update = flag.Bool("update", false, "write the golden files")

// What the receipts say of an owner whose coordinator was out of reach, its successor, and
// the write that came late.
func TestReceipts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		all := &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == slog.MessageKey {
				return slog.Attr{}
			}
			return a
		}}
		log := fencedb.LogReceipts(slog.New(slog.NewTextHandler(&out, all)))
		var cut atomic.Bool
		store := fencedbtest.NewCoordinator("default")
		a := store.Handle(func(_ context.Context, c fencedbtest.Call) fencedbtest.FaultPlan {
			return fencedbtest.FaultPlan{LoseRequest: cut.Load() && c.Op == fencedbtest.OpRenew}
		})
		guard := fencedbtest.NewGuard(nil)
		hold := func(c fencedb.Coordinator, owner string, work func(context.Context, *fencedb.Lease) error) error {
			return fencedb.Hold(t.Context(), c, daily, work, clocked(fencedb.Owner(owner), fencedb.Guards(guard), fencedb.WithObserver(log))...)
		}
		err := hold(a, "worker-a", func(ctx context.Context, l *fencedb.Lease) error {
			time.Sleep(6 * time.Second)
			cut.Store(true)
			time.Sleep(24 * time.Second) // the lease is over, and this does not notice
			err := hold(store, "worker-b", func(context.Context, *fencedb.Lease) error { return nil })
			if err != nil {
				t.Error(err)
			}
			// The guard is told of what it decides by its own observer.
			ctx = fencedb.WithOperation(ctx, "order:2026-07-20")
			stale := guard.Write(context.WithoutCancel(ctx), l.Token())
			log.Decide(ctx, fencedb.Decision{Operation: "enter", Table: "fence_guards", Resource: daily, Presented: l.Token().Value(),
				Grant: l.Token().Grant(), Current: 2, Result: fencedb.ResultOf(stale)})
			return stale
		})
		if !errors.Is(err, fencedb.ErrStale) || !errors.Is(err, fencedb.ErrLeaseExpired) {
			t.Errorf("Hold returned %v", err)
		}
		got, names := out.String(), ""
		for _, id := range regexp.MustCompile(`grant=[A-Z0-9]{26}`).FindAllString(got, -1) {
			if !strings.Contains(names, id) {
				names += id + " "
			}
		}
		for i, id := range strings.Fields(names) {
			got = strings.ReplaceAll(got, id, fmt.Sprintf("grant=g%d", i+1))
		}
		got = regexp.MustCompile(`(duration|remaining|renewed|coordinator_time|drain|held|ended|takeover_delay)=\S+`).ReplaceAllString(got, "$1=-")
		// How often it is tried in vain depends on chance.
		got = regexp.MustCompile(`(?m)(^.*ambiguous duration.*\n)+`).ReplaceAllString(got, "$1")
		const golden = "testdata/receipts.txt"
		if *update {
			if err := os.MkdirAll("testdata", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("-update writes what it is:\n%s", got)
		}
	})
}

func ExampleLogReceipts() {
	var out bytes.Buffer
	quiet := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	observer := fencedb.LogReceipts(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: quiet})))
	observer.Decide(context.Background(), fencedb.Decision{Operation: "enter", Table: "fence_guards",
		Resource: "orders:daily", Presented: 41, Grant: "K7Q2M4", Current: 42, Result: fencedb.Stale})
	fmt.Print(out.String())
	// Output: level=WARN msg=fence.decision event=fence.decision resource=orders:daily operation=enter action=enter table=fence_guards grant=K7Q2M4 received=41 result=stale expected=">= 42"
}

// A job that one process at a time does. The guard makes the database refuse what a former
// holder still sends.
func ExampleHold() {
	coordinator := fencedbtest.NewCoordinator("default") // in a program: sqllease.New, or etcdlease.New
	guard := fencedbtest.NewGuard(nil)                   // in a program: the guard of a generated package

	err := fencedb.Hold(context.Background(), coordinator, "orders:daily", func(ctx context.Context, lease *fencedb.Lease) error {
		fmt.Println("token", lease.Token().Value(), "raised", lease.Raised())
		return guard.Write(ctx, lease.Token())
	}, fencedb.Guards(guard))
	fmt.Println(err)
	// Output:
	// token 1 raised true
	// <nil>
}

func ExampleTryHold() {
	coordinator := fencedbtest.NewCoordinator("default")
	ctx := context.Background()
	err := fencedb.Hold(ctx, coordinator, "orders:daily", func(ctx context.Context, _ *fencedb.Lease) error {
		return fencedb.TryHold(ctx, coordinator, "orders:daily", nothing)
	}, fencedb.Owner("worker-a"))
	var held *fencedb.HeldError
	fmt.Println(errors.As(err, &held), held.Owner, held.Value)
	// Output: true worker-a 1
}
