package otelfence_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/fencedbtest"
	"github.com/fencelint/fence/fencedb/metrics"
	"github.com/fencelint/fence/fencedb/otelfence"
)

// A clock follows the bubble's time: the system's does not.
type clock struct{ began time.Time }

func (c clock) Now() time.Duration       { return time.Since(c.began) }
func (c clock) Suspended() time.Duration { return 0 }
func (c clock) Wall() time.Time          { return time.Now() }

func hold(ctx context.Context, c fencedb.Coordinator, resource string, o *fencedb.Observer, work func(context.Context, *fencedb.Lease) error) error {
	return fencedb.TryHold(ctx, c, resource, work, fencedb.WithObserver(o), fencedb.WithClock(clock{time.Now()}))
}

func newTelemetry(t *testing.T, opts ...metrics.Option) (*otelfence.Telemetry, *sdkmetric.ManualReader) {
	t.Helper()
	reader := sdkmetric.NewManualReader()
	telemetry, err := otelfence.New(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("test"), opts...)
	if err != nil {
		t.Fatal(err)
	}
	return telemetry, reader
}

func collect(t *testing.T, reader *sdkmetric.ManualReader) map[string]metricdata.Metrics {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	byName := map[string]metricdata.Metrics{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			byName[m.Name] = m
		}
	}
	return byName
}

// points returns the value of each set of attributes, for a histogram its sum.
func points(m metricdata.Metrics) map[string]float64 {
	all := map[string]float64{}
	at := func(s attribute.Set) string { return s.Encoded(attribute.DefaultEncoder()) }
	switch data := m.Data.(type) {
	case metricdata.Sum[float64]:
		for _, p := range data.DataPoints {
			all[at(p.Attributes)] = p.Value
		}
	case metricdata.Gauge[float64]:
		for _, p := range data.DataPoints {
			all[at(p.Attributes)] = p.Value
		}
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			all[at(p.Attributes)] = p.Sum
		}
	}
	return all
}

// loseRenewals is a coordinator whose answers to renewals are lost from the second on.
func loseRenewals() *fencedbtest.Coordinator {
	return fencedbtest.NewCoordinator("orders", fencedbtest.WithFaults(func(_ context.Context, c fencedbtest.Call) fencedbtest.FaultPlan {
		return fencedbtest.FaultPlan{LoseReply: c.Op == fencedbtest.OpRenew && c.N > 1}
	}))
}

func stale(l *fencedb.Lease) fencedb.Decision {
	return fencedb.Decision{Operation: "enter", Table: "fence_guards", Resource: l.Token().Resource(), Presented: l.Token().Value(),
		Grant: l.Token().Grant(), Current: l.Token().Value() + 2, Result: fencedb.Stale}
}

// TestCatalogue runs leases that are lost and taken over, and compares what the SDK has with
// the catalogue: names, units, kinds, bounds.
func TestCatalogue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		telemetry, reader := newTelemetry(t)
		o, c := telemetry.Observer(), loseRenewals()
		err := hold(t.Context(), c, "a", o, func(ctx context.Context, l *fencedb.Lease) error {
			o.Decide(ctx, stale(l))
			<-ctx.Done()
			time.Sleep(5 * time.Second)
			return nil
		})
		if !errors.Is(err, fencedb.ErrLeaseExpired) {
			t.Fatalf("Hold without answers to its renewals returned %v", err)
		}
		time.Sleep(time.Minute)
		err = hold(t.Context(), c.Handle(nil), "a", o, func(context.Context, *fencedb.Lease) error {
			all := collect(t, reader)
			for _, m := range metrics.All() {
				compare(t, all[m.Name], m)
				delete(all, m.Name)
			}
			for name := range all {
				t.Errorf("%s is in no catalogue", name)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func compare(t *testing.T, got metricdata.Metrics, want metrics.Metric) {
	t.Helper()
	if got.Data == nil {
		t.Errorf("%s is not there", want.Name)
		return
	}
	if got.Unit != want.Unit || got.Description != want.Help {
		t.Errorf("%s has the unit %q and the description %q", want.Name, got.Unit, got.Description)
	}
	kind := metrics.Gauge
	switch data := got.Data.(type) {
	case metricdata.Sum[float64]:
		kind = metrics.UpDown
		if data.IsMonotonic {
			kind = metrics.Counter
		}
	case metricdata.Histogram[float64]:
		kind = metrics.Histogram
		if !slices.Equal(data.DataPoints[0].Bounds, want.Bounds) {
			t.Errorf("%s has the bounds %v", want.Name, data.DataPoints[0].Bounds)
		}
	}
	if kind != want.Kind {
		t.Errorf("%s is a %s, want a %s", want.Name, kind, want.Kind)
	}
}

// TestHold reads the values while a real Hold runs, and after it.
func TestHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		telemetry, reader := newTelemetry(t, metrics.LeaseClass(func(string) string { return "daily" }))
		want := func(name string, attributes string, v float64) {
			t.Helper()
			all := points(collect(t, reader)[name])
			if got, ok := all[attributes]; !ok || got < v-1e-6 || got > v+1e-6 {
				t.Errorf("%s of %s is %v (there: %v), want %v; there are %v", name, attributes, got, ok, v, all)
			}
		}
		err := hold(t.Context(), fencedbtest.NewCoordinator("orders"), "a", telemetry.Observer(), func(context.Context, *fencedb.Lease) error {
			time.Sleep(3 * time.Second)
			want("fence.lease.held", "lease_class=daily,namespace=orders", 1)
			want("fence.lease.validity.remaining", "namespace=orders", 9.571428)
			want("fence.store.incarnation", "incarnation=0,namespace=orders", 1)
			time.Sleep(3 * time.Second)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want("fence.lease.held", "lease_class=daily,namespace=orders", 0)
		want("fence.lease.acquire.attempts", "namespace=orders,outcome=granted", 1)
		want("fence.lease.renewals", "namespace=orders,outcome=ok", 1)
		want("fence.lease.renewals", "namespace=orders,outcome=ambiguous", 0)
		want("fence.lease.releases", "namespace=orders,outcome=released", 1)
		if all := points(collect(t, reader)["fence.lease.validity.remaining"]); len(all) != 0 {
			t.Errorf("without a lease there is a validity: %v", all)
		}
	})
}

// TestNoClass wants an empty label to be no attribute.
func TestNoClass(t *testing.T) {
	telemetry, reader := newTelemetry(t)
	telemetry.Observer().Attempt(t.Context(), fencedb.AttemptReceipt{Namespace: "orders", Resource: "a", Outcome: fencedb.AttemptBusy})
	if all := points(collect(t, reader)["fence.lease.held"]); len(all) != 1 || all["namespace=orders"] != 0 {
		t.Errorf("held leases are %v", all)
	}
}

// TestSeriesAreBounded has 10,000 leases of as many resources.
func TestSeriesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		telemetry, reader := newTelemetry(t)
		o, c := telemetry.Observer(), fencedbtest.NewCoordinator("orders")
		feed := func(i int) {
			err := hold(t.Context(), c, fmt.Sprintf("order:%d", i), o, func(ctx context.Context, l *fencedb.Lease) error {
				o.Decide(ctx, stale(l))
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		count := func() (n int) {
			for _, m := range collect(t, reader) {
				n += len(points(m))
			}
			return n
		}
		feed(1)
		before := count()
		for i := range 10_000 {
			feed(i + 2)
		}
		if after := count(); after != before {
			t.Errorf("%d series of one resource have become %d of 10,001", before, after)
		}
	})
}

// TestClose has the gauges go away with the Telemetry.
func TestClose(t *testing.T) {
	telemetry, reader := newTelemetry(t)
	telemetry.Observer().Attempt(t.Context(), fencedb.AttemptReceipt{Namespace: "orders", Resource: "a", Outcome: fencedb.AttemptBusy})
	if err := telemetry.Close(); err != nil {
		t.Fatal(err)
	}
	if all := points(collect(t, reader)["fence.lease.held"]); len(all) != 0 {
		t.Errorf("after Close held leases are %v", all)
	}
}

// TestSpan reads what a lease that is rejected and lost leaves on the span it runs under.
func TestSpan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		telemetry, _ := newTelemetry(t)
		o, spans := telemetry.Observer(), tracetest.NewSpanRecorder()
		provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
		ctx, span := provider.Tracer("test").Start(t.Context(), "work")
		var token fencedb.Token
		err := hold(ctx, loseRenewals(), "orders:daily", o, func(ctx context.Context, l *fencedb.Lease) error {
			token = l.Token()
			accepted, failed := stale(l), stale(l)
			accepted.Result, failed.Result = fencedb.Accepted, fencedb.Failed
			for _, d := range []fencedb.Decision{accepted, failed, stale(l)} {
				o.Decide(ctx, d)
			}
			<-ctx.Done()
			return nil
		})
		if !errors.Is(err, fencedb.ErrLeaseExpired) {
			t.Fatalf("Hold returned %v", err)
		}
		span.End()
		got := spans.Ended()[0]
		namespace, resource := attribute.String("fence.namespace", "orders"), attribute.String("fence.resource", "orders:daily")
		number, grant := attribute.Int64("fence.token", token.Value()), attribute.String("fence.grant.id", token.Grant())
		wantAttributes(t, "the span", got.Attributes(), namespace, number, grant)
		if got.Status().Code != codes.Unset {
			t.Errorf("the span's status was set to %v", got.Status())
		}
		events := got.Events()
		if len(events) != 3 || events[0].Name != "fence.granted" || events[1].Name != "fence.rejected" || events[2].Name != "fence.lost" {
			t.Fatalf("the span has the events %v", events)
		}
		wantAttributes(t, "granted", events[0].Attributes, namespace, number, grant, resource)
		wantAttributes(t, "rejected", events[1].Attributes, resource, number, grant, attribute.String("db.operation.name", "enter"),
			attribute.String("db.collection.name", "fence_guards"), attribute.String("error.type", "stale"),
			attribute.Int64("fence.token.current", token.Value()+2))
		wantAttributes(t, "lost", events[2].Attributes, namespace, number, grant, resource,
			attribute.String("error.type", "unreachable"), attribute.Bool("fence.overrun", false))
	})
}

func wantAttributes(t *testing.T, what string, got []attribute.KeyValue, want ...attribute.KeyValue) {
	t.Helper()
	a, b := attribute.NewSet(got...), attribute.NewSet(want...)
	if len(got) != len(want) || !a.Equals(&b) {
		t.Errorf("%s has %v, want %v", what, got, want)
	}
}

func BenchmarkDecision(b *testing.B) {
	telemetry, err := otelfence.New(sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader())).Meter("test"))
	if err != nil {
		b.Fatal(err)
	}
	o := telemetry.Observer()
	d := fencedb.Decision{Operation: "enter", Table: "fence_guards", Resource: "a", Presented: 1, Current: 1, Grant: "K7Q2M4", Result: fencedb.Accepted}
	b.ReportAllocs()
	for b.Loop() {
		o.Decision(b.Context(), d)
	}
}
