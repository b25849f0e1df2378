package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/fencedbtest"
	"github.com/fencelint/fence/fencedb/metrics"
)

// A table is a Sink that keeps everything.
type table struct {
	mu     sync.Mutex
	sums   map[string]float64 // counters, and the sums of histograms
	counts map[string]int     // of histograms
	by     map[string]metrics.By
}

func newTable() *table {
	return &table{sums: map[string]float64{}, counts: map[string]int{}, by: map[string]metrics.By{}}
}

func (s *table) Add(_ context.Context, id metrics.ID, by metrics.By, v float64, values ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sums[series(id, values)] += v
	if v > 0 {
		s.by[series(id, values)] = by
	}
}

func (s *table) Observe(ctx context.Context, id metrics.ID, by metrics.By, v float64, values ...string) {
	s.Add(ctx, id, by, v, values...)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[series(id, values)]++
}

// sum returns a counter, or the sum of a histogram.
func (s *table) sum(series string) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sums[series]
}

func series(id metrics.ID, values []string) string {
	return metrics.All()[id].Prometheus + "{" + strings.Join(values, ",") + "}"
}

// want compares with what was counted, leaving out what is 0 unless it is asked for.
func (s *table) want(t *testing.T, want map[string]float64) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, v := range want {
		if got, ok := s.sums[k]; !ok || got != v {
			t.Errorf("%s is %v (there: %v), want %v", k, got, ok, v)
		}
	}
	for k, v := range s.sums {
		if _, ok := want[k]; !ok && v != 0 {
			t.Errorf("%s is %v, and nothing of it was expected", k, v)
		}
	}
}

func gauges(r *metrics.Recorder) map[string]float64 {
	all := map[string]float64{}
	r.Gauges(func(id metrics.ID, v float64, values ...string) {
		k := series(id, values)
		if _, twice := all[k]; twice {
			panic("the gauge " + k + " was given twice")
		}
		all[k] = v
	})
	return all
}

func wantGauges(t *testing.T, r *metrics.Recorder, want map[string]float64) {
	t.Helper()
	got := gauges(r)
	if maps.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
		return
	}
	for _, k := range slices.Sorted(maps.Keys(got)) {
		t.Logf("%s %v", k, got[k])
	}
	t.Errorf("gauges are as above, want %v", want)
}

// A clock follows the bubble's time, and can be told that the system was suspended.
type clock struct {
	began     time.Time
	suspended atomic.Int64
}

func (c *clock) Now() time.Duration       { return time.Since(c.began) + c.Suspended() }
func (c *clock) Suspended() time.Duration { return time.Duration(c.suspended.Load()) }
func (c *clock) Wall() time.Time          { return c.began.Add(c.Now()) }

func hold(c fencedb.Coordinator, resource string, r *metrics.Recorder, work func(context.Context, *fencedb.Lease) error, opts ...fencedb.HoldOption) error {
	opts = append([]fencedb.HoldOption{fencedb.WithObserver(r.Observer()), fencedb.WithClock(&clock{began: time.Now()})}, opts...)
	return fencedb.TryHold(context.Background(), c, resource, work, opts...)
}

// TestHold runs a lease that is granted, renewed and released.
func TestHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTable()
		r := metrics.New(s, metrics.LeaseClass(func(resource string) string { _, class, _ := strings.Cut(resource, ":"); return class }))
		c := fencedbtest.NewCoordinator("orders")
		var token fencedb.Token
		err := hold(c, "orders:daily", r, func(_ context.Context, l *fencedb.Lease) error {
			token = l.Token()
			wantGauges(t, r, map[string]float64{
				"fence_lease_held{orders,daily}":                 1,
				"fence_lease_uncertain{orders,daily}":            0,
				"fence_lease_overrunning{orders,daily}":          0,
				"fence_lease_validity_remaining_seconds{orders}": 12.571428, // (15 s * 0.95/1.05 rounded down) - 1 s
				"fence_lease_validity_ratio{orders}":             1,
				"fence_store_incarnation_info{orders,0}":         1,
			})
			time.Sleep(4 * time.Second)
			if g := gauges(r); g["fence_lease_validity_ratio{orders}"] < 0.68 || g["fence_lease_validity_ratio{orders}"] > 0.69 {
				t.Errorf("after 4 of 12.57 s the ratio is %v", g["fence_lease_validity_ratio{orders}"])
			}
			time.Sleep(7 * time.Second) // two renewals, each a third of the TTL, or up to a tenth of that less
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		s.want(t, map[string]float64{
			"fence_lease_acquire_attempts_total{orders,granted}": 1,
			"fence_lease_acquire_attempts_total{orders,busy}":    0,
			"fence_lease_renewals_total{orders,ok}":              2,
			"fence_lease_renewals_total{orders,ambiguous}":       0,
			"fence_lease_losses_total{orders,expired}":           0,
			"fence_lease_releases_total{orders,released}":        1,
			"fence_token_regressions_total{orders,guard}":        0,
			"fence_clock_suspend_seconds_total{}":                0,
		})
		if got := s.counts["fence_lease_renewal_duration_seconds{orders}"]; got != 2 {
			t.Errorf("%d durations of renewals, want 2", got)
		}
		if got, want := s.by["fence_lease_renewals_total{orders,ok}"], (metrics.By{Token: token.Value(), Grant: token.Grant()}); got != want {
			t.Errorf("a renewal is by %v, want %v", got, want)
		}
		wantGauges(t, r, map[string]float64{
			"fence_lease_held{orders,daily}":         0,
			"fence_lease_uncertain{orders,daily}":    0,
			"fence_lease_overrunning{orders,daily}":  0,
			"fence_store_incarnation_info{orders,0}": 1,
		})
	})
}

// TestBusy asks for what another holds.
func TestBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := fencedbtest.NewCoordinator("orders"), newTable()
		r := metrics.New(s)
		err := hold(c, "a", metrics.New(newTable()), func(context.Context, *fencedb.Lease) error {
			return hold(c, "a", r, func(context.Context, *fencedb.Lease) error { return nil })
		})
		if !errors.Is(err, fencedb.ErrHeld) {
			t.Fatalf("TryHold of what is held gave %v", err)
		}
		s.want(t, map[string]float64{"fence_lease_acquire_attempts_total{orders,busy}": 1})
		// That it is asked for and not held here is what an alert for "nobody holds it" needs.
		wantGauges(t, r, map[string]float64{"fence_lease_held{orders,}": 0, "fence_lease_uncertain{orders,}": 0, "fence_lease_overrunning{orders,}": 0})
	})
}

// TestAmbiguous loses the answers to all renewals: the lease is uncertain, then unreachable,
// its work does not stop, and the next holder has a takeover.
func TestAmbiguous(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTable()
		r := metrics.New(s)
		c := fencedbtest.NewCoordinator("orders", fencedbtest.WithFaults(func(_ context.Context, c fencedbtest.Call) fencedbtest.FaultPlan {
			return fencedbtest.FaultPlan{LoseReply: c.Op == fencedbtest.OpRenew && c.N > 1}
		}))
		err := hold(c, "a", r, func(ctx context.Context, _ *fencedb.Lease) error {
			time.Sleep(14 * time.Second)
			if g := gauges(r); g["fence_lease_held{orders,}"] != 1 || g["fence_lease_uncertain{orders,}"] != 1 {
				t.Errorf("after a renewal without an answer the gauges are %v", g)
			}
			<-ctx.Done()
			time.Sleep(10 * time.Second) // and does not return
			if g := gauges(r); g["fence_lease_held{orders,}"] != 0 || g["fence_lease_uncertain{orders,}"] != 0 || g["fence_lease_overrunning{orders,}"] != 1 {
				t.Errorf("while the work does not return the gauges are %v", g)
			}
			if _, ok := gauges(r)["fence_lease_validity_ratio{orders}"]; ok {
				t.Error("a lease that is over has a validity")
			}
			if s.sum("fence_lease_losses_total{orders,unreachable}") != 1 {
				t.Error("a loss is not counted before the work returns")
			}
			return nil
		})
		if !errors.Is(err, fencedb.ErrLeaseExpired) {
			t.Fatalf("Hold returned %v", err)
		}
		time.Sleep(time.Minute)
		if err := hold(c.Handle(nil), "a", r, func(context.Context, *fencedb.Lease) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if got := s.sum("fence_lease_renewals_total{orders,ambiguous}"); got < 2 {
			t.Errorf("%v renewals are ambiguous, want 2 or more", got)
		}
		if n := s.counts["fence_lease_takeover_delay_seconds{orders}"]; n != 1 {
			t.Errorf("%d takeovers, want 1: the first grant was none", n)
		}
		// The renewals whose answers were lost were carried out, so it expired later than the holder knew.
		if v := s.sum("fence_lease_takeover_delay_seconds{orders}"); v < 50 || v > 70 {
			t.Errorf("the takeover came %v s after the expiry, want about a minute", v)
		}
		if n, v := s.counts["fence_lease_drain_duration_seconds{orders,overrun}"], s.sum("fence_lease_drain_duration_seconds{orders,overrun}"); n != 1 || v < 10 || v > 11 {
			t.Errorf("%d drains of %v s overran, want one of 10 s", n, v)
		}
		if v := s.sum("fence_lease_losses_total{orders,unreachable}"); v != 1 {
			t.Errorf("%v losses are counted, want 1 for the two receipts of one end", v)
		}
		if a, b := s.sum("fence_lease_releases_total{orders,skipped}"), s.sum("fence_lease_releases_total{orders,released}"); a != 1 || b != 1 {
			t.Errorf("%v releases were skipped and %v made, want 1 and 1", a, b)
		}
		if len(gauges(r)) != 4 {
			t.Errorf("gauges of leases that are over: %v", gauges(r))
		}
	})
}

// TestDrain stops work in time.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTable()
		c := fencedbtest.NewCoordinator("orders")
		err := hold(c, "a", metrics.New(s), func(ctx context.Context, _ *fencedb.Lease) error {
			if _, err := c.Break("a", false); err != nil {
				return err
			}
			<-ctx.Done()
			time.Sleep(200 * time.Millisecond)
			return nil
		})
		if !errors.Is(err, fencedb.ErrReleased) {
			t.Fatalf("Hold returned %v", err)
		}
		s.want(t, map[string]float64{
			"fence_lease_acquire_attempts_total{orders,granted}": 1,
			"fence_lease_renewals_total{orders,released}":        1,
			"fence_lease_losses_total{orders,released}":          1,
			"fence_lease_releases_total{orders,skipped}":         1,
			"fence_lease_drain_duration_seconds{orders,in_time}": 0.2,
			"fence_lease_renewal_duration_seconds{orders}":       0,
		})
	})
}

// TestSuspend has two leases see one suspension, and one of them another.
func TestSuspend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTable()
		r := metrics.New(s)
		c := fencedbtest.NewCoordinator("orders")
		system := &clock{began: time.Now()}
		suspend := func(d time.Duration) { system.suspended.Add(int64(d)) }
		both := func() error {
			return hold(c, "b", r, func(context.Context, *fencedb.Lease) error {
				suspend(3 * time.Second)
				time.Sleep(6 * time.Second) // both renew, and notice
				return nil
			}, fencedb.WithClock(system))
		}
		err := hold(c, "a", r, func(context.Context, *fencedb.Lease) error {
			if err := both(); err != nil {
				return err
			}
			suspend(2 * time.Second)
			time.Sleep(6 * time.Second)
			return both()
		}, fencedb.WithClock(system))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.sum("fence_clock_suspend_seconds_total{}"); got != 8 {
			t.Errorf("the system was suspended for %v s, want 3 + 2 + 3", got)
		}
	})
}

// TestRegression grants from a restored store. Who finds out is the coordinator, if it raises the
// guard, and the holder otherwise.
func TestRegression(t *testing.T) {
	for _, test := range []struct {
		name    string
		options []fencedbtest.Option
		failed  float64 // requests
	}{
		{"in the grant", []fencedbtest.Option{fencedbtest.WithGrantRaises()}, 1},
		{"after it", nil, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newTable()
				c := fencedbtest.NewCoordinator("orders", test.options...)
				guard := fencedbtest.NewGuard(nil)
				r := metrics.New(s)
				restore := c.Snapshot()
				nothing := func(context.Context, *fencedb.Lease) error { return nil }
				if err := hold(c, "a", r, nothing, fencedb.Guards(guard)); err != nil {
					t.Fatal(err)
				}
				restore()
				if err := hold(c, "a", r, nothing, fencedb.Guards(guard)); !errors.Is(err, fencedb.ErrTokenRegression) {
					t.Fatalf("a grant with a token that was granted before: %v", err)
				}
				if got := s.sum("fence_token_regressions_total{orders,guard}"); got != 1 {
					t.Errorf("%v regressions, want 1", got)
				}
				if got := s.sum("fence_lease_acquire_attempts_total{orders,error}"); got != test.failed {
					t.Errorf("%v requests failed, want %v", got, test.failed)
				}
				if by := s.by["fence_token_regressions_total{orders,guard}"]; by.Token != 1 || by.Grant == "" {
					t.Errorf("the regression is by %v, want token 1 and its grant", by)
				}
			})
		})
	}
}

// TestDecisions has a row for each decision.
func TestDecisions(t *testing.T) {
	for _, d := range []struct {
		decision fencedb.Decision
		want     string
	}{
		{fencedb.Decision{Operation: "enter", Presented: 7, Current: 7, Result: fencedb.Accepted}, "accepted"},
		{fencedb.Decision{Operation: "raise", Presented: 7, Current: 7, Result: fencedb.Accepted}, "raised"},
		{fencedb.Decision{Operation: "raise", Presented: 7, Current: 12, Result: fencedb.Stale}, "stale"},
		{fencedb.Decision{Operation: "update", Presented: 7, Result: fencedb.Stale}, "stale"},
		{fencedb.Decision{Operation: "enter", Presented: 7, Current: 7, Result: fencedb.Conflict}, "conflict"},
		{fencedb.Decision{Operation: "enter", Result: fencedb.Invalid}, "missing"},
		{fencedb.Decision{Operation: "enter", Presented: 7, Result: fencedb.Invalid}, "malformed"},
		{fencedb.Decision{Operation: "enter", Presented: 7, Current: 3, Result: fencedb.NotGranted}, "not_granted"},
		{fencedb.Decision{Operation: "update", Presented: 7, Result: fencedb.WrongResource}, "wrong_resource"},
		{fencedb.Decision{Operation: "update", Presented: 7, Result: fencedb.Missing}, "not_found"},
		{fencedb.Decision{Operation: "update", Presented: 7, Result: fencedb.Failed}, "failed"},
		{fencedb.Decision{Operation: "update", Presented: 7, Result: "of another version"}, "other"},
	} {
		s := newTable()
		d.decision.Table = "jobs"
		metrics.New(s).Observer().Decision(t.Context(), d.decision)
		want := map[string]float64{"fence_guard_checks_total{jobs," + d.want + "}": 1, "fence_guard_checks_total{jobs,conflict}": 0}
		if d.want == "conflict" {
			want["fence_guard_checks_total{jobs,conflict}"] = 1
		}
		if d.decision.Current > d.decision.Presented {
			want["fence_guard_stale_token_lag{jobs}"] = 5
		}
		s.want(t, want)
	}
}

// TestOutcomesAreListed wants every word of package fencedb in the catalogue, so that none is "other".
func TestOutcomesAreListed(t *testing.T) {
	s := newTable()
	o := metrics.New(s).Observer()
	for _, outcome := range []fencedb.AttemptOutcome{fencedb.AttemptGranted, fencedb.AttemptBusy, fencedb.AttemptDelayed,
		fencedb.AttemptRefused, fencedb.AttemptNotSent, fencedb.AttemptUnknown} {
		o.Attempt(t.Context(), fencedb.AttemptReceipt{Outcome: outcome})
	}
	lease := &fencedb.Lease{}
	for _, outcome := range []fencedb.RenewOutcome{fencedb.RenewOK, fencedb.RenewSuperseded, fencedb.RenewExpired,
		fencedb.RenewReleased, fencedb.RenewNotSent, fencedb.RenewAmbiguous} {
		o.Renew(t.Context(), fencedb.RenewReceipt{Lease: lease, Outcome: outcome})
	}
	for _, reason := range []fencedb.LossReason{fencedb.LossExpired, fencedb.LossUnreachable, fencedb.LossSuperseded,
		fencedb.LossReleased, fencedb.LossAmbiguous, fencedb.LossPanicked} {
		o.End(t.Context(), fencedb.EndReceipt{Lease: lease, Reason: reason, Release: "skipped"})
	}
	for k, v := range s.sums {
		if strings.HasSuffix(k, ",other}") && v != 0 {
			t.Errorf("%s is %v: a word of package fencedb is in no row", k, v)
		}
	}
	if got := s.counts["fence_lease_renewal_duration_seconds{}"]; got != 5 {
		t.Errorf("%d durations of renewals, want 5: one was not sent", got)
	}
}

// TestSeriesAreBounded feeds 10,000 resources, owners and tokens, then as many tables,
// namespaces and classes as a broken program may make up.
func TestSeriesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTable()
		r := metrics.New(s)
		c := fencedbtest.NewCoordinator("orders")
		feed := func(i int) {
			resource, owner := fmt.Sprintf("order:%d", i), fmt.Sprintf("host-%d", i)
			err := hold(c, resource, r, func(ctx context.Context, l *fencedb.Lease) error {
				for _, result := range []fencedb.Result{fencedb.Accepted, fencedb.Stale, fencedb.Conflict} {
					r.Observer().Decision(ctx, fencedb.Decision{Operation: "enter", Table: "guards", Key: resource, Resource: resource,
						Presented: l.Token().Value(), Grant: l.Token().Grant(), Current: l.Token().Value() + int64(i), Result: result})
				}
				return nil
			}, fencedb.Owner(owner))
			if err != nil {
				t.Fatal(err)
			}
		}
		count := func() int { return len(s.sums) + len(gauges(r)) }
		feed(1)
		before := count()
		for i := range 10_000 {
			feed(i + 2)
		}
		if after := count(); after != before {
			t.Errorf("%d series of one resource have become %d of 10,001", before, after)
		}
		if got := s.sum("fence_guard_checks_total{guards,stale}"); got != 10_001 {
			t.Errorf("%v stale checks are counted, want 10,001", got)
		}
	})
	s := newTable()
	wild := metrics.New(s, metrics.LeaseClass(func(resource string) string { return resource }))
	o := wild.Observer()
	for i := range 10_000 {
		name := fmt.Sprint(i)
		o.Decision(t.Context(), fencedb.Decision{Table: name, Result: fencedb.Accepted})
		o.Attempt(t.Context(), fencedb.AttemptReceipt{Namespace: "one", Resource: name, Outcome: fencedb.AttemptBusy})
	}
	perTable := len(metrics.All()[metrics.GuardChecks].Labels[1].Values)
	tables, classes := 0, 0
	for k := range s.sums {
		if strings.HasPrefix(k, "fence_guard_checks_total") {
			tables++
		}
	}
	for k := range gauges(wild) {
		if strings.HasPrefix(k, "fence_lease_held") {
			classes++
		}
	}
	if want := (metrics.MaxValues + 1) * perTable; tables != want || classes != metrics.MaxValues+1 {
		t.Errorf("10,000 tables have %d series and as many classes %d, want %d and %d", tables, classes, want, metrics.MaxValues+1)
	}
	if got := s.sum("fence_guard_checks_total{other,accepted}"); got != 10_000-metrics.MaxValues {
		t.Errorf("%v checks are of other tables, want what is beyond the first %d", got, metrics.MaxValues)
	}
}

// TestBadText has labels that are no UTF-8.
func TestBadText(t *testing.T) {
	s := newTable()
	o := metrics.New(s).Observer()
	for range 2 {
		o.Decision(t.Context(), fencedb.Decision{Table: "a\xff", Result: fencedb.Accepted})
	}
	s.want(t, map[string]float64{"fence_guard_checks_total{a\uFFFD,accepted}": 2})
}

// TestConcurrent is for the race detector: receipts while the gauges are read.
func TestConcurrent(t *testing.T) {
	r := metrics.New(newTable())
	c := fencedbtest.NewCoordinator("orders")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 50 {
				if err := hold(c, fmt.Sprintf("%d:%d", i, n), r, func(context.Context, *fencedb.Lease) error { gauges(r); return nil }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if got := gauges(r)["fence_lease_held{orders,}"]; got != 0 {
		t.Errorf("%v leases are held in the end", got)
	}
}

func BenchmarkDecision(b *testing.B) {
	o := metrics.New(discard{}).Observer()
	d := fencedb.Decision{Operation: "enter", Table: "guards", Resource: "a", Presented: 1, Current: 1, Grant: "g", Result: fencedb.Accepted}
	b.ReportAllocs()
	for b.Loop() {
		o.Decision(b.Context(), d)
	}
}

// BenchmarkGauges reads the gauges of 10,000 leases.
func BenchmarkGauges(b *testing.B) {
	r := metrics.New(discard{})
	for range 10_000 {
		r.Observer().Grant(b.Context(), fencedb.GrantReceipt{Namespace: "orders", Lease: held(b)})
	}
	b.ReportAllocs()
	for b.Loop() {
		r.Gauges(func(metrics.ID, float64, ...string) {})
	}
}

// held returns a lease as one is, but that its Hold has returned: it can be asked.
func held(tb testing.TB) *fencedb.Lease {
	var lease *fencedb.Lease
	err := fencedb.TryHold(tb.Context(), fencedbtest.NewCoordinator("orders"), "a", func(_ context.Context, l *fencedb.Lease) error {
		lease = l
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return lease
}

type discard struct{}

func (discard) Add(context.Context, metrics.ID, metrics.By, float64, ...string)     {}
func (discard) Observe(context.Context, metrics.ID, metrics.By, float64, ...string) {}
