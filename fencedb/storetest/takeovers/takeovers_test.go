//go:build linux

package takeovers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/fencelint/fence/fencedb/storetest/takeovers/journal"
	"github.com/fencelint/fence/fencedb/storetest/takeovers/judge"
	"github.com/fencelint/fence/fencedb/storetest/takeovers/server"
	"github.com/fencelint/fence/fencedb/storetest/takeovers/worker"
)

// The environment variables by which this binary is one of the processes of a run. Their
// value is its configuration.
const (
	workerRole = "FENCE_TAKEOVERS_WORKER"
	etcdRole   = "FENCE_TAKEOVERS_ETCD"
)

func TestMain(m *testing.M) {
	for variable, run := range map[string]func(string) error{workerRole: runWorker, etcdRole: server.ServeEtcd} {
		config := os.Getenv(variable)
		if config == "" {
			continue
		}
		if err := run(config); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	m.Run()
}

func runWorker(config string) error {
	var c worker.Config
	if err := json.Unmarshal([]byte(config), &c); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	return worker.Run(ctx, c, os.Stdout)
}

// The environment variables of whoever starts a run.
const (
	wantedVariable  = "FENCE_TEST_TAKEOVERS"         // how many takeovers, over all stores: a few, and on SQLite alone, without it
	seedVariable    = "FENCE_TEST_TAKEOVERS_SEED"    // of the faults: a random one without it
	figuresVariable = "FENCE_TEST_TAKEOVERS_FIGURES" // a file to which the figures are added, a line of JSON for each store
	keepVariable    = "FENCE_TEST_TAKEOVERS_KEEP"    // a directory for what the workers told and the stores kept
)

// Workers on a store are stopped, killed and cut off. No token goes back, no two leases are
// valid at once, and nothing is accepted from a holder once the guard knows its successor.
func TestTakeovers(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves out what takes half a minute: scripts/apart takeovers")
	}
	wanted := number(t, wantedVariable, 0)
	seed := number(t, seedVariable, uint64(time.Now().UnixNano()))
	t.Logf("%s=%d repeats the schedule of the faults", seedVariable, seed)
	each := max(4, (int(wanted)+len(stores)-1)/len(stores))
	for i, s := range stores {
		t.Run(s.name, func(t *testing.T) {
			if wanted == 0 && i > 0 {
				t.Skipf("%s=100 has takeovers on all stores, in a minute", wantedVariable)
			}
			t.Parallel()
			on := start(t, s)
			began := time.Now()
			told := play(t, game{store: s, seed: seed, wanted: each, limit: time.Minute + time.Duration(each)*4*time.Second}, on)
			keep(t, s.name, told)
			v := judge.Judge(told)
			for _, violation := range v.Violations {
				t.Error(violation)
			}
			notInVain(t, v, len(on.targets) > 0)
			report(t, s, v, seed, time.Since(began))
		})
	}
}

// start starts a store, and skips the test if its server is not installed.
func start(t *testing.T, s store) *running {
	t.Helper()
	on, err := s.start(t.Context(), directory(t))
	if errors.Is(err, server.ErrMissing) {
		t.Skipf("%v: scripts/services --install true installs PostgreSQL and MariaDB", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := on.close(); err != nil {
			t.Error(err)
		}
	})
	return on
}

// What the judge looks for does happen where it has to: workers that write without the guard
// have stale writes accepted, and those whose clocks are slower than the bound have leases
// that overlap. Then tokens still stop every stale write.
func TestWrongWorkers(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves out what takes half a minute: scripts/apart takeovers")
	}
	for name, test := range map[string]struct {
		change func(*worker.Config)
		wanted []judge.Rule
	}{
		"without the guard":       {func(c *worker.Config) { c.Unguarded = true }, []judge.Rule{judge.StaleWrite}},
		"clocks beyond the bound": {func(c *worker.Config) { c.Rate = 0.4 }, []judge.Rule{judge.Overlap, judge.Deadline}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stores[0]
			seed := number(t, seedVariable, uint64(time.Now().UnixNano()))
			t.Logf("%s=%d repeats the schedule of the faults", seedVariable, seed)
			told := play(t, game{store: s, seed: seed, wanted: 10, vain: true, limit: 2 * time.Minute, change: test.change}, start(t, s))
			found := make(map[judge.Rule]int)
			for _, v := range judge.Judge(told).Violations {
				if found[v.Rule]++; !slices.Contains(test.wanted, v.Rule) {
					t.Error(v)
				}
			}
			if found[test.wanted[0]] == 0 {
				t.Errorf("the judge has found %v, want some of %q", found, test.wanted[0])
			}
			t.Logf("found: %v", found)
		})
	}
}

// notInVain fails if a run has not had what it is for.
func notInVain(t *testing.T, v judge.Verdict, network bool) {
	t.Helper()
	for _, f := range faults {
		if v.Faults[f.kind] == 0 && (network || !f.network) {
			t.Errorf("nothing was done of %q", f.kind)
		}
	}
	for what, n := range map[string]int{
		"a write that was accepted":                    v.Writes[judge.Accepted],
		"a stale write that was rejected":              v.Writes["stale"],
		"a write after the context had ended":          sum(v.Late),
		"a holder that was stopped":                    v.Stopped,
		"a lease that was not valid when it was woken": v.Woken,
		"a row of the store":                           v.Kept,
	} {
		if n == 0 {
			t.Errorf("there was not %s", what)
		}
	}
}

func sum(m map[string]int) (n int) {
	for _, v := range m {
		n += v
	}
	return n
}

// figures are what a run shows.
type figures struct {
	Store                string
	Seed                 uint64
	Seconds, TTL         float64
	Grants               int
	Violations           int
	Takeover, Quiet      quantiles      // all takeovers, and those in which neither the store nor the new holder had a fault
	Writes, Late, Faults map[string]int // by result, and by kind
	Kept                 int
	StoppedHolders       int
}

// quantiles are times in milliseconds, of takeovers from the expiry by the store to the start
// of the work, the guard raised.
type quantiles struct {
	N             int
	P50, P99, Max float64
}

func quantilesOf(sorted []time.Duration) quantiles {
	if len(sorted) == 0 {
		return quantiles{}
	}
	at := func(q float64) float64 {
		return float64(sorted[min(int(q*float64(len(sorted))), len(sorted)-1)].Microseconds()) / 1000
	}
	return quantiles{len(sorted), at(0.5), at(0.99), at(1)}
}

func report(t *testing.T, s store, v judge.Verdict, seed uint64, took time.Duration) {
	t.Helper()
	f := figures{Store: s.name, Seed: seed, Seconds: took.Seconds(), TTL: s.ttl.Seconds(), Grants: v.Grants, Violations: len(v.Violations),
		Takeover: quantilesOf(v.Takeovers), Quiet: quantilesOf(v.Quiet),
		Writes: v.Writes, Late: v.Late, Faults: v.Faults, Kept: v.Kept, StoppedHolders: v.Stopped}
	line, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", line)
	name := os.Getenv(figuresVariable)
	if name == "" {
		return
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.Write(append(line, '\n'))
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
}

// number reads a number from an environment variable.
func number(t *testing.T, variable string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

// directory returns one that servers of other users can use, with a short path, since sockets
// are in it.
func directory(t testing.TB) string {
	t.Helper()
	root, err := os.MkdirTemp("/tmp", "fence-takeovers-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(root); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	return root
}

// keep writes a run down if that is wanted.
func keep(t *testing.T, name string, told journal.Run) {
	t.Helper()
	dir := os.Getenv(keepVariable)
	if dir == "" {
		return
	}
	text, err := json.Marshal(told)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".json"), text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// The same seed gives the same faults, and a deck has each of them.
func TestSchedule(t *testing.T) {
	draw := func(seed uint64, network bool) (all []planned) {
		s := newSchedule(seed, "postgres", time.Second, workers, network)
		for range s.all {
			all = append(all, s.next())
		}
		return all
	}
	same := func(a, b planned) bool {
		return a.kind == b.kind && a.after == b.after && a.victim == b.victim && a.lasts == b.lasts && a.delay == b.delay && a.lost == b.lost
	}
	first := draw(1, true)
	if !slices.EqualFunc(first, draw(1, true), same) {
		t.Error("one seed gives two schedules")
	}
	if slices.EqualFunc(first, draw(2, true), same) {
		t.Error("two seeds give one schedule")
	}
	for _, f := range faults {
		is := func(p planned) bool { return p.kind == f.kind }
		if !slices.ContainsFunc(first, is) {
			t.Errorf("a deck has no %q", f.kind)
		}
		if slices.ContainsFunc(draw(1, false), is) == f.network {
			t.Errorf("without a network: %q", f.kind)
		}
	}
}
