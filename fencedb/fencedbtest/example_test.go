package fencedbtest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/fencedbtest"
)

// A program in which a holder pauses for longer than its lease lasts: its late write is
// rejected, since the next holder has raised the guard.
func ExampleNewCoordinator() {
	ctx := context.Background()
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	coordinator := fencedbtest.NewCoordinator("orders", fencedbtest.WithClock(func() time.Time { return now }))
	guard := fencedbtest.NewGuard(nil)
	hold := func(owner string) (fencedb.Token, error) {
		g, err := coordinator.Acquire(ctx, fencedb.AcquireRequest{Resource: "orders:daily", GrantID: "grant-of-" + owner, Owner: owner, TTL: 10 * time.Second})
		if err != nil {
			return fencedb.Token{}, err
		}
		return g.Token, guard.Raise(ctx, g.Token)
	}

	former, err := hold("a")
	fmt.Println(former, err)
	_, err = hold("b")
	fmt.Println(err)
	now = now.Add(10 * time.Second) // a pauses
	present, err := hold("b")
	fmt.Println(present, err)
	fmt.Println(guard.Write(ctx, former))
	// Output:
	// orders:daily/1/grant-of-a <nil>
	// fencedb: orders:daily is held by "a" with token 1; it can be free in 10s
	// orders:daily/2/grant-of-b <nil>
	// fencedb: stale token 1 of orders:daily: 2 is known
}

// The answer to the first request is lost. The same request made again gives the same token.
func ExampleFaultPlan() {
	coordinator := fencedbtest.NewCoordinator("orders", fencedbtest.WithFaults(
		func(_ context.Context, c fencedbtest.Call) fencedbtest.FaultPlan {
			if c.Op == fencedbtest.OpAcquire && c.N == 1 {
				return fencedbtest.FaultPlan{LoseReply: true, Err: errors.New("connection reset")}
			}
			return fencedbtest.FaultPlan{}
		}))
	request := fencedb.AcquireRequest{Resource: "orders:daily", GrantID: "K7Q2M4", Owner: "a", TTL: 10 * time.Second}
	for range 2 {
		g, err := coordinator.Acquire(context.Background(), request)
		fmt.Println(g.Token, g.Repeated, err)
	}
	// Output:
	// (no token) false connection reset
	// orders:daily/1/K7Q2M4 true <nil>
}

// The test of a store that implements fencedb.Coordinator. This one is in memory, and its
// clock is package time, so the checks run inside synctest bubbles; a store on a server has
// no Around, and Open gives each handle a connection of its own.
func ExampleRunCoordinator() {
	_ = func(t *testing.T) { // func TestConformance(t *testing.T) {
		fencedbtest.RunCoordinator(t, fencedbtest.CoordinatorSuite{
			New: func(*testing.T) fencedbtest.CoordinatorUnderTest {
				c := fencedbtest.NewCoordinator("a namespace that is new for each call")
				return fencedbtest.CoordinatorUnderTest{
					Open: func() fencedb.Coordinator { return c.Handle(nil) },
					Break: func(_ context.Context, resource string, noDelay bool) error {
						_, err := c.Break(resource, noDelay)
						return err
					},
				}
			},
			Around: synctest.Test,
		})
	}
}

// The test of a guard. A fence column would say Row.
func ExampleRunGuard() {
	_ = func(t *testing.T) { // func TestConformance(t *testing.T) {
		fencedbtest.RunGuard(t, fencedbtest.GuardSuite{
			New: func(*testing.T) fencedbtest.GuardUnderTest {
				g := fencedbtest.NewGuard(nil)
				return fencedbtest.GuardUnderTest{Guard: g, Write: g.Write, InScope: g.InScope}
			},
			Around: synctest.Test,
		})
	}
}
