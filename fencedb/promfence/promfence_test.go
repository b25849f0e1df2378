package promfence_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/fencedbtest"
	"github.com/fencelint/fence/fencedb/metrics"
	"github.com/fencelint/fence/fencedb/promfence"
)

// A clock follows the bubble's time: the system's does not.
type clock struct{ began time.Time }

func (c clock) Now() time.Duration       { return time.Since(c.began) }
func (c clock) Suspended() time.Duration { return 0 }
func (c clock) Wall() time.Time          { return time.Now() }

func hold(c fencedb.Coordinator, resource string, o *fencedb.Observer, work func(context.Context, *fencedb.Lease) error, opts ...fencedb.HoldOption) error {
	opts = append([]fencedb.HoldOption{fencedb.WithObserver(o), fencedb.WithClock(clock{time.Now()})}, opts...)
	return fencedb.TryHold(context.Background(), c, resource, work, opts...)
}

// exercise has every metric of the catalogue take a value.
func exercise(t *testing.T, o *fencedb.Observer) {
	c := fencedbtest.NewCoordinator("orders", fencedbtest.WithFaults(func(_ context.Context, c fencedbtest.Call) fencedbtest.FaultPlan {
		return fencedbtest.FaultPlan{LoseReply: c.Op == fencedbtest.OpRenew && c.N > 1}
	}))
	err := hold(c, "a", o, func(ctx context.Context, l *fencedb.Lease) error {
		for _, result := range []fencedb.Result{fencedb.Accepted, fencedb.Stale} {
			o.Decide(ctx, fencedb.Decision{Operation: "enter", Table: "fence_guards", Resource: "a",
				Presented: l.Token().Value(), Grant: l.Token().Grant(), Current: l.Token().Value() + 2, Result: result})
		}
		<-ctx.Done()
		time.Sleep(5 * time.Second)
		return nil
	})
	if !errors.Is(err, fencedb.ErrLeaseExpired) {
		t.Fatalf("Hold without answers to its renewals returned %v", err)
	}
	time.Sleep(time.Minute)
	if err := hold(c.Handle(nil), "a", o, func(context.Context, *fencedb.Lease) error { time.Sleep(6 * time.Second); return nil }); err != nil {
		t.Fatal(err)
	}
}

// TestLint has client_golang lint every metric while a lease is held.
func TestLint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		collector := promfence.New()
		registry := prometheus.NewPedanticRegistry()
		registry.MustRegister(collector)
		exercise(t, collector.Observer())
		err := hold(fencedbtest.NewCoordinator("orders"), "b", collector.Observer(), func(context.Context, *fencedb.Lease) error {
			problems, err := testutil.GatherAndLint(registry)
			for _, p := range problems {
				t.Errorf("%s: %s", p.Metric, p.Text)
			}
			if err != nil {
				return err
			}
			families, err := registry.Gather()
			have := map[string]bool{}
			for _, f := range families {
				have[f.GetName()] = true
			}
			for _, m := range metrics.All() {
				if !have[m.Prometheus] {
					t.Errorf("%s is not shown", m.Prometheus)
				}
			}
			if len(families) != len(metrics.All()) {
				t.Errorf("%d families are shown, want the catalogue's %d", len(families), len(metrics.All()))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// TestScrape reads the text of a scrape while a real Hold runs, and after it.
func TestScrape(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		collector := promfence.New(metrics.LeaseClass(func(string) string { return "daily" }))
		c := fencedbtest.NewCoordinator("orders")
		guard := fencedbtest.NewGuard(nil)
		want := func(text string, names ...string) {
			t.Helper()
			if err := testutil.CollectAndCompare(collector, strings.NewReader(text), names...); err != nil {
				t.Error(err)
			}
		}
		err := hold(c, "orders:daily", collector.Observer(), func(context.Context, *fencedb.Lease) error {
			time.Sleep(3 * time.Second)
			want(`
# HELP fence_lease_held Leases that this process holds.
# TYPE fence_lease_held gauge
fence_lease_held{lease_class="daily",namespace="orders"} 1
# HELP fence_lease_validity_remaining_seconds Time until the first of the conservative deadlines of the valid leases that this process holds.
# TYPE fence_lease_validity_remaining_seconds gauge
fence_lease_validity_remaining_seconds{namespace="orders"} 9.571428000000001
`, "fence_lease_held", "fence_lease_validity_remaining_seconds")
			time.Sleep(3 * time.Second)
			return nil
		}, fencedb.Guards(guard))
		if err != nil {
			t.Fatal(err)
		}
		want(`
# HELP fence_lease_held Leases that this process holds.
# TYPE fence_lease_held gauge
fence_lease_held{lease_class="daily",namespace="orders"} 0
# HELP fence_lease_renewals_total Renewals, by how they were answered.
# TYPE fence_lease_renewals_total counter
fence_lease_renewals_total{namespace="orders",outcome="ambiguous"} 0
fence_lease_renewals_total{namespace="orders",outcome="expired"} 0
fence_lease_renewals_total{namespace="orders",outcome="not_sent"} 0
fence_lease_renewals_total{namespace="orders",outcome="ok"} 1
fence_lease_renewals_total{namespace="orders",outcome="other"} 0
fence_lease_renewals_total{namespace="orders",outcome="released"} 0
fence_lease_renewals_total{namespace="orders",outcome="superseded"} 0
# HELP fence_lease_releases_total Leases whose work has returned, by what became of the release.
# TYPE fence_lease_releases_total counter
fence_lease_releases_total{namespace="orders",outcome="failed"} 0
fence_lease_releases_total{namespace="orders",outcome="other"} 0
fence_lease_releases_total{namespace="orders",outcome="released"} 1
fence_lease_releases_total{namespace="orders",outcome="skipped"} 0
`, "fence_lease_held", "fence_lease_renewals_total", "fence_lease_releases_total", "fence_lease_validity_remaining_seconds")
	})
}

// TestSeriesAreBounded has 10,000 leases of as many resources.
func TestSeriesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		collector := promfence.New()
		c := fencedbtest.NewCoordinator("orders")
		feed := func(i int) {
			resource := fmt.Sprintf("order:%d", i)
			err := hold(c, resource, collector.Observer(), func(ctx context.Context, l *fencedb.Lease) error {
				collector.Observer().Decide(ctx, fencedb.Decision{Table: "fence_guards", Resource: resource, Key: resource,
					Presented: l.Token().Value(), Grant: l.Token().Grant(), Current: l.Token().Value() + int64(i), Result: fencedb.Stale})
				return nil
			}, fencedb.Owner(resource))
			if err != nil {
				t.Fatal(err)
			}
		}
		feed(1)
		before := testutil.CollectAndCount(collector)
		for i := range 10_000 {
			feed(i + 2)
		}
		if after := testutil.CollectAndCount(collector); after != before {
			t.Errorf("%d series of one resource have become %d of 10,001", before, after)
		}
	})
}

// TestExemplars scrapes by OpenMetrics: the series has no grant, its exemplar has.
func TestExemplars(t *testing.T) {
	collector := promfence.New()
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector)
	o := collector.Observer()
	o.Decide(t.Context(), fencedb.Decision{Table: "fence_guards", Presented: 41, Current: 43, Grant: "K7Q2M4", Result: fencedb.Stale})
	text := scrape(t, registry)
	for _, want := range []string{
		`fence_guard_checks_total{decision="stale",table="fence_guards"} 1.0 # {grant="K7Q2M4",token="41"} 1.0 `,
		`fence_guard_stale_token_lag_bucket{table="fence_guards",le="4.0"} 1 # {grant="K7Q2M4",token="41"} 2.0 `,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the scrape has no %s:\n%s", want, text)
		}
	}
}

// TestBadExemplars has grant ids that no coordinator makes, at which client_golang panics.
func TestBadExemplars(t *testing.T) {
	collector := promfence.New()
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector)
	for _, grant := range []string{strings.Repeat("g", 65), strings.Repeat("g", 1000), "a\xff", strings.Repeat("g", 64)} {
		collector.Observer().Decide(t.Context(), fencedb.Decision{Table: "t", Presented: 1<<63 - 1, Grant: grant, Result: fencedb.Conflict})
	}
	want := `decision="conflict",table="t"} 4.0 # {grant="` + strings.Repeat("g", 64) + `",token="9223372036854775807"} 1.0`
	if text := scrape(t, registry); !strings.Contains(text, want) {
		t.Errorf("the scrape has no %s:\n%s", want, text)
	}
}

var tokenFirst = regexp.MustCompile(`\{(token="[^"]*"),(grant="[^"]*")\}`)

func scrape(t *testing.T, registry *prometheus.Registry) string {
	t.Helper()
	request := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	request.Header.Set("Accept", "application/openmetrics-text")
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true}).ServeHTTP(answer, request)
	if answer.Code != 200 {
		t.Fatalf("the scrape failed by %d: %s", answer.Code, answer.Body)
	}
	// An exemplar's labels come in any order.
	return tokenFirst.ReplaceAllString(answer.Body.String(), "{$2,$1}")
}

// TestTwo registers a second collector, which has the same names.
func TestTwo(t *testing.T) {
	registry := prometheus.NewRegistry()
	if err := registry.Register(promfence.New()); err != nil {
		t.Fatal(err)
	}
	if already := (prometheus.AlreadyRegisteredError{}); !errors.As(registry.Register(promfence.New()), &already) {
		t.Error("two collectors are registered with one registry")
	}
}

func BenchmarkDecision(b *testing.B) {
	o := promfence.New().Observer()
	d := fencedb.Decision{Operation: "enter", Table: "fence_guards", Resource: "a", Presented: 1, Current: 1, Grant: "K7Q2M4", Result: fencedb.Accepted}
	b.ReportAllocs()
	for b.Loop() {
		o.Decision(b.Context(), d)
	}
}
