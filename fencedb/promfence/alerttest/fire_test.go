package alerttest

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
	"github.com/prometheus/prometheus/storage"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/fencedbtest"
	"github.com/fencelint/fence/fencedb/promfence"
	"github.com/fencelint/fence/fencedb/promfence/alerts"
)

// fired evaluates the rules every 15 seconds, and returns the alerts that fired at any time,
// each with its summary.
func fired(t *testing.T, s storage.Storage, from, to time.Time) map[string]string {
	t.Helper()
	engine := promqltest.NewTestEngine(t, false, 0, promqltest.DefaultMaxSamplesPerQuery)
	m := rules.NewManager(&rules.ManagerOptions{
		QueryFunc:  rules.EngineQueryFunc(engine, s),
		Appendable: s,
		Queryable:  s,
		Context:    t.Context(),
		NotifyFunc: func(context.Context, string, ...*rules.Alert) {},
		Logger:     promslog.NewNopLogger(),
	})
	// By its content, which the go command sees change: of files in another module it does not.
	file := filepath.Join(t.TempDir(), "fence.rules.yaml")
	if err := os.WriteFile(file, []byte(alerts.Rules()), 0o600); err != nil {
		t.Fatal(err)
	}
	groups, errs := m.LoadGroups(15*time.Second, labels.EmptyLabels(), "", nil, false, file)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	all := map[string]string{}
	for at := from; !at.After(to); at = at.Add(15 * time.Second) {
		for _, g := range groups {
			g.Eval(t.Context(), at)
			for _, r := range g.AlertingRules() {
				if err := r.LastError(); err != nil {
					t.Fatalf("%s: %v", r.Name(), err)
				}
				for _, a := range r.ActiveAlerts() {
					a.Annotations.Range(func(l labels.Label) {
						if strings.Contains(l.Value, "<error") || strings.Contains(l.Value, "<no value>") {
							t.Errorf("the %s of %s is %q", l.Name, r.Name(), l.Value)
						}
					})
					if a.State == rules.StateFiring {
						all[r.Name()] = a.Annotations.Get("summary")
					}
				}
			}
		}
	}
	return all
}

// healthy is an hour of a namespace in which all is as it should be: one of two processes
// holds, the other asks, one takeover a while ago sent two stale writes.
const healthy = `load 15s
  fence_lease_held{namespace="orders",instance="a"} 1x240
  fence_lease_held{namespace="orders",instance="b"} 0x240
  fence_lease_uncertain{namespace="orders",instance="a"} 0x240
  fence_lease_overrunning{namespace="orders",instance="a"} 0x240
  fence_lease_acquire_attempts_total{namespace="orders",outcome="busy",instance="b"} 0+5x240
  fence_lease_acquire_attempts_total{namespace="orders",outcome="granted",instance="a"} 1x240
  fence_lease_renewals_total{namespace="orders",outcome="ok",instance="a"} 0+3x240
  fence_lease_renewals_total{namespace="orders",outcome="ambiguous",instance="a"} 0x120 1x120
  fence_lease_validity_ratio{namespace="orders",instance="a"} 0.9 0.62 0.75 0.9 0.61 0.8 0.9x234
  fence_lease_validity_remaining_seconds{namespace="orders",instance="a"} 9x240
  fence_lease_losses_total{namespace="orders",reason="expired",instance="a"} 0x100 1x140
  fence_lease_takeover_delay_seconds_bucket{namespace="orders",le="0.5",instance="a"} 0x100 1x140
  fence_lease_takeover_delay_seconds_bucket{namespace="orders",le="30",instance="a"} 0x100 1x140
  fence_lease_takeover_delay_seconds_bucket{namespace="orders",le="60",instance="a"} 0x100 1x140
  fence_lease_takeover_delay_seconds_bucket{namespace="orders",le="+Inf",instance="a"} 0x100 1x140
  fence_guard_checks_total{table="g",decision="accepted",instance="a"} 0+40x240
  fence_guard_checks_total{table="g",decision="stale",instance="a"} 0x100 2x140
  fence_guard_checks_total{table="g",decision="conflict",instance="a"} 0x240
  fence_guard_checks_total{table="g",decision="missing",instance="a"} 0x240
  fence_guard_checks_total{table="g",decision="not_found",instance="a"} 0+1x240
  fence_token_regressions_total{namespace="orders",source="guard",instance="a"} 0x240
`

const rising, steady = "0+1x240", "0x240"

// cases are series to be put beside the healthy ones.
var cases = []struct {
	name   string
	series []string
	want   string // the alert, none if it is empty
}{
	{"healthy", nil, ""},

	{"conflict", []string{`fence_guard_checks_total{table="t",decision="conflict"} 0x100 1x140`}, "FenceTokenConflict"},
	{"conflict of a new series", []string{`fence_guard_checks_total{table="t",decision="conflict"} _x100 1x140`}, "FenceTokenConflict"},
	{"conflict of long ago", []string{`fence_guard_checks_total{table="t",decision="conflict"} 5x240`}, ""},
	{"process that restarts after a conflict", []string{`fence_guard_checks_total{table="t",decision="conflict"} 5x100 0x140`}, ""},

	{"regression", []string{`fence_token_regressions_total{namespace="n",source="client"} 0x100 1x140`}, "FenceTokenRegression"},
	{"regression of a new series", []string{`fence_token_regressions_total{namespace="n",source="witness"} _x100 1x140`}, "FenceTokenRegression"},
	{"regression of long ago", []string{`fence_token_regressions_total{namespace="n",source="client"} 1x240`}, ""},

	{"stale writes that go on", []string{`fence_guard_checks_total{table="t",decision="stale"} ` + rising}, "FenceStaleWrites"},
	{"stale writes of one takeover", []string{`fence_guard_checks_total{table="t",decision="stale"} 0x100 0+10x4 40x136`}, ""},

	{"no token", []string{`fence_guard_checks_total{table="t",decision="missing"} ` + rising}, "FenceBadTokens"},
	{"not granted", []string{`fence_guard_checks_total{table="t",decision="not_granted"} ` + rising}, "FenceBadTokens"},
	{"malformed", []string{`fence_guard_checks_total{table="t",decision="malformed"} ` + rising}, "FenceBadTokens"},
	{"of another resource", []string{`fence_guard_checks_total{table="t",decision="wrong_resource"} ` + rising}, "FenceBadTokens"},
	{"the database's errors", []string{`fence_guard_checks_total{table="t",decision="failed"} ` + rising}, ""},

	{"renewed late", []string{`fence_lease_validity_ratio{namespace="n"} 0.9 0.3 0.7 0.9 0.6 0.35 0.3x234`}, "FenceRenewalsLate"},
	{"renewed late every minute", []string{`fence_lease_validity_ratio{namespace="n"} 0.9x100 ` + strings.Repeat("0.9 0.7 0.3 0.6 ", 30)}, "FenceRenewalsLate"},
	{"renewed late once", []string{`fence_lease_validity_ratio{namespace="n"} 0.9x100 0.1 0.9x139`}, ""},
	{"renewed as by default", []string{`fence_lease_validity_ratio{namespace="n"} ` + strings.Repeat("1 0.8 0.6 ", 80)}, ""},

	{"answers lost", []string{`fence_lease_renewals_total{namespace="n",outcome="ok"} 0+9x240`,
		`fence_lease_renewals_total{namespace="n",outcome="ambiguous"} ` + rising}, "FenceRenewalsAmbiguous"},
	{"an answer lost now and then", []string{`fence_lease_renewals_total{namespace="n",outcome="ok"} 0+99x240`,
		`fence_lease_renewals_total{namespace="n",outcome="ambiguous"} ` + rising}, ""},
	{"no renewals", []string{`fence_lease_renewals_total{namespace="n",outcome="ok"} ` + steady,
		`fence_lease_renewals_total{namespace="n",outcome="ambiguous"} ` + steady}, ""},

	{"leases lost", []string{`fence_lease_losses_total{namespace="n",reason="unreachable"} 0x100 0+1x5 5x135`}, "FenceLeasesLost"},
	{"two leases lost", []string{`fence_lease_losses_total{namespace="n",reason="unreachable"} 0x100 1x10 2x130`}, ""},

	{"work goes on", []string{`fence_lease_overrunning{namespace="n"} 0x100 1x140`}, "FenceWorkOverrun"},
	{"work goes on for half a minute", []string{`fence_lease_overrunning{namespace="n"} 0x100 1x2 0x138`}, ""},

	{"slow takeovers", []string{`fence_lease_takeover_delay_seconds_bucket{namespace="n",le="30"} ` + steady,
		`fence_lease_takeover_delay_seconds_bucket{namespace="n",le="60"} 0+0.1x240`,
		`fence_lease_takeover_delay_seconds_bucket{namespace="n",le="+Inf"} 0+0.1x240`}, "FenceTakeoverSlow"},
	{"quick takeovers", []string{`fence_lease_takeover_delay_seconds_bucket{namespace="n",le="5"} 0+0.1x240`,
		`fence_lease_takeover_delay_seconds_bucket{namespace="n",le="30"} 0+0.1x240`,
		`fence_lease_takeover_delay_seconds_bucket{namespace="n",le="+Inf"} 0+0.1x240`}, ""},

	{"no holder", []string{`fence_lease_held{namespace="n",instance="a"} 1x100 0x140`, `fence_lease_held{namespace="n",instance="b"} ` + steady,
		`fence_lease_acquire_attempts_total{namespace="n",outcome="busy",instance="b"} ` + rising,
		`fence_lease_acquire_attempts_total{namespace="n",outcome="granted",instance="b"} ` + steady}, "FenceNoHolder"},
	{"leases that are held for less than a scrape", []string{`fence_lease_held{namespace="n"} ` + steady,
		`fence_lease_acquire_attempts_total{namespace="n",outcome="granted"} ` + rising}, ""},
	{"nobody asks", []string{`fence_lease_held{namespace="n"} ` + steady,
		`fence_lease_acquire_attempts_total{namespace="n",outcome="granted"} ` + steady}, ""},
}

// TestSeries wants the alert that the series are for and no other.
func TestSeries(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := promqltest.LoadedStorage(t, healthy+"  "+strings.Join(c.series, "\n  ")+"\n")
			defer func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}()
			// The first minutes are left out, in which every series is new.
			start := time.Unix(0, 0)
			wantFired(t, fired(t, s, start.Add(20*time.Minute), start.Add(time.Hour)), c.want)
		})
	}
}

func wantFired(t *testing.T, got map[string]string, want ...string) {
	t.Helper()
	want = slices.DeleteFunc(want, func(s string) bool { return s == "" })
	slices.Sort(want)
	if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, want) {
		t.Errorf("fired %v, want %v", got, want)
	}
}

// TestEveryAlertFires wants a case for each rule, so that there is none that never fires.
func TestEveryAlertFires(t *testing.T) {
	fires := map[string]bool{}
	for _, c := range cases {
		fires[c.want] = true
	}
	for _, r := range parse(t) {
		if !fires[r.Alert] {
			t.Errorf("no series has %s fire", r.Alert)
		}
	}
}

// A scrape is what Prometheus would have got.
type scrape struct {
	at      time.Time
	samples model.Vector
}

// A clock follows the bubble's time.
type clock struct{ began time.Time }

func (c clock) Now() time.Duration       { return time.Since(c.began) }
func (c clock) Suspended() time.Duration { return 0 }
func (c clock) Wall() time.Time          { return time.Now() }

// scrapeAll runs work in a bubble, in which an hour takes no time, and scrapes its collector
// every 15 seconds.
func scrapeAll(t *testing.T, work func(ctx context.Context, t *testing.T, o *fencedb.Observer)) []scrape {
	t.Helper()
	var all []scrape
	synctest.Test(t, func(t *testing.T) {
		collector := promfence.New()
		registry := prometheus.NewRegistry()
		registry.MustRegister(collector)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		done := make(chan struct{})
		go func() {
			defer close(done)
			work(ctx, t, collector.Observer())
		}()
		for ctx.Err() == nil {
			families, err := registry.Gather()
			if err != nil {
				t.Error(err)
			}
			now := time.Now()
			samples, err := expfmt.ExtractSamples(&expfmt.DecodeOptions{Timestamp: model.TimeFromUnixNano(now.UnixNano())}, families...)
			if err != nil {
				t.Error(err)
			}
			all = append(all, scrape{now, samples})
			time.Sleep(15 * time.Second)
		}
		<-done
	})
	return all
}

// firedBy stores the scrapes and evaluates the rules after the first 20 minutes.
func firedBy(t *testing.T, all []scrape) map[string]string {
	t.Helper()
	s := promqltest.LoadedStorage(t, "")
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, one := range all {
		app := s.Appender(t.Context())
		for _, sample := range one.samples {
			b := labels.NewScratchBuilder(len(sample.Metric))
			for k, v := range sample.Metric {
				b.Add(string(k), string(v))
			}
			b.Sort()
			if _, err := app.Append(0, b.Labels(), one.at.UnixMilli(), float64(sample.Value)); err != nil {
				t.Fatal(err)
			}
		}
		if err := app.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	return fired(t, s, all[0].at.Add(20*time.Minute), all[len(all)-1].at)
}

// run holds the resource again and again until ctx ends.
func run(ctx context.Context, t *testing.T, c fencedb.Coordinator, o *fencedb.Observer, work func(context.Context, *fencedb.Lease) error) {
	for ctx.Err() == nil {
		err := fencedb.Hold(ctx, c, "a", work, fencedb.WithObserver(o), fencedb.WithClock(clock{time.Now()}))
		if err != nil && ctx.Err() == nil && !errors.Is(err, fencedb.ErrLeaseExpired) {
			t.Error(err)
			return
		}
	}
}

// TestHealthyHold runs a real lease for an hour, and then leases of a minute.
func TestHealthyHold(t *testing.T) {
	untilTold := func(ctx context.Context, _ *fencedb.Lease) error { <-ctx.Done(); return nil }
	aMinute := func(context.Context, *fencedb.Lease) error { time.Sleep(time.Minute); return nil }
	for _, work := range []func(context.Context, *fencedb.Lease) error{untilTold, aMinute} {
		all := scrapeAll(t, func(ctx context.Context, t *testing.T, o *fencedb.Observer) {
			run(ctx, t, fencedbtest.NewCoordinator("orders"), o, work)
		})
		if len(all) < 240 {
			t.Fatalf("%d scrapes, want 240 or more", len(all))
		}
		wantFired(t, firedBy(t, all))
	}
}

// TestBadHold loses the answers to all renewals for as long as work runs, which does not
// stop in time: four alerts say so, one of them that the next holder comes after all that.
func TestBadHold(t *testing.T) {
	all := scrapeAll(t, func(ctx context.Context, t *testing.T, o *fencedb.Observer) {
		c := fencedbtest.NewCoordinator("orders", fencedbtest.WithFaults(func(_ context.Context, c fencedbtest.Call) fencedbtest.FaultPlan {
			return fencedbtest.FaultPlan{LoseReply: c.Op == fencedbtest.OpRenew}
		}))
		run(ctx, t, c, o, func(ctx context.Context, _ *fencedb.Lease) error {
			<-ctx.Done()
			time.Sleep(2 * time.Minute)
			return nil
		})
	})
	wantFired(t, firedBy(t, all), "FenceRenewalsAmbiguous", "FenceLeasesLost", "FenceWorkOverrun", "FenceTakeoverSlow")
}
