package lease_test

import (
	"go/types"
	"testing"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/irtest"
	"github.com/fencelint/fence/analyzers/internal/lease"
)

func TestFind(t *testing.T) {
	p := irtest.SSA(t, `package p

import (
	"context"
	"sync"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	"github.com/hashicorp/consul/api"
	"go.etcd.io/etcd/client/v3/concurrency"
	"k8s.io/client-go/tools/leaderelection"
)

type Mutex struct{}

func (*Mutex) Lock(context.Context) error { return nil }

func f(ctx context.Context, rl *redislock.Client, l *redislock.Lock, m *redsync.Mutex, kv *api.KV, cl *api.Lock,
	em *concurrency.Mutex, el *concurrency.Election, s *concurrency.Session, le *leaderelection.LeaderElector, mine *Mutex, std *sync.Mutex) {
	rl.Obtain(ctx, "k", 0, nil)
	l.Refresh(ctx, 0, nil)
	l.Release(ctx)
	l.Token()
	m.Lock()
	m.Extend()
	m.Unlock()
	kv.Acquire(nil, nil)
	kv.Put(nil, nil)
	cl.Lock(nil)
	em.TryLock(ctx)
	em.Key()
	el.Campaign(ctx, "")
	el.Resign(ctx)
	s.Done()
	le.IsLeader()
	mine.Lock(ctx)
	std.Lock()
	func() {}()
}
`)
	want := []struct {
		name string
		kind lease.Kind
		ok   bool
	}{
		{"Obtain", lease.Acquire, true}, {"Refresh", lease.Renew, true}, {"Release", lease.Release, true}, {"Token", 0, false},
		{"Lock", lease.Acquire, true}, {"Extend", lease.Renew, true}, {"Unlock", lease.Release, true},
		{"Acquire", lease.Acquire, true}, {"Put", 0, false}, {"Lock", lease.Acquire, true}, {"TryLock", lease.Acquire, true}, {"Key", 0, false},
		{"Campaign", lease.Acquire, true}, {"Resign", lease.Release, true}, {"Done", lease.Lost, true}, {"IsLeader", lease.Check, true},
		{"Lock", 0, false}, {"Lock", 0, false}, {"", 0, false},
	}
	calls := irtest.Func(t, p, "f")
	i := 0
	for _, b := range calls.Blocks {
		for _, in := range b.Instrs {
			c, ok := in.(ssa.CallInstruction)
			if !ok {
				continue
			}
			got, found := lease.Find(ir.Object(c.Common()))
			if found != want[i].ok || found && got.Kind != want[i].kind {
				t.Errorf("%d. %s: %+v, %t", i, want[i].name, got, found)
			}
			i++
		}
	}
	if i != len(want) {
		t.Errorf("%d calls, want %d", i, len(want))
	}
	if got, _ := lease.Find(ir.Object(irtest.Calls(p, "Acquire")[0].Common())); got.Proof != lease.True {
		t.Error("consul's Acquire answers with a bool")
	}
}

func TestIsCallbackField(t *testing.T) {
	p := irtest.SSA(t, `package p

import "k8s.io/client-go/tools/leaderelection"

type LeaderCallbacks struct{ OnStartedLeading func() }

var a leaderelection.LeaderCallbacks
var b LeaderCallbacks
`)
	a := p.Types.Scope().Lookup("a").Type().(*types.Named)
	b := p.Types.Scope().Lookup("b").Type().(*types.Named)
	if !lease.IsCallbackField(a, "OnStartedLeading") || lease.IsCallbackField(a, "OnStoppedLeading") {
		t.Error("OnStartedLeading alone runs as owner")
	}
	if lease.IsCallbackField(b, "OnStartedLeading") || lease.IsCallbackField(nil, "OnStartedLeading") {
		t.Error("a struct of the same name is not the library's")
	}
}
