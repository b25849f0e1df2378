// Package otelfence shows OpenTelemetry what fence does: metrics by the names of
// docs/observability.md, and events on the span under which it happens.
//
//	telemetry, err := otelfence.New(otel.Meter("orders"))
//	guards, err := fencedb.NewGuardTable(fencedb.Postgres, fencedb.ObservedBy(telemetry.Observer()))
//	err = fencedb.Hold(ctx, coordinator, "orders:daily", work, fencedb.WithObserver(telemetry.Observer()))
//
// It needs OpenTelemetry's API alone. The program chooses the SDK, its readers and exporters.
//
// # Spans
//
// Where the context of a receipt has a span that records, a grant adds the event
// "fence.granted" to it and sets the attributes fence.namespace, fence.token and
// fence.grant.id; a token that is rejected adds "fence.rejected", and a lease that is over
// before its work is adds "fence.lost". The events carry the attributes, too, and error.type
// says why: "stale", "conflict", "expired". The span's own status is left to whoever knows
// what a rejection means there.
package otelfence

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/metrics"
)

// Telemetry measures everything that its [Telemetry.Observer] is told. One is enough for a
// process, however many coordinators, guards and writers it has. Its methods may be called
// by any number of goroutines.
type Telemetry struct {
	recorder     *metrics.Recorder
	counters     map[metrics.ID]metric.Float64Counter
	histograms   map[metrics.ID]metric.Float64Histogram
	gauges       map[metrics.ID]metric.Float64Observable
	labels       map[metrics.ID][]metrics.Label
	registration metric.Registration
}

// New makes the instruments in meter. The options are those of package metrics. The error is
// the meter's.
func New(meter metric.Meter, opts ...metrics.Option) (*Telemetry, error) {
	t := &Telemetry{
		counters:   map[metrics.ID]metric.Float64Counter{},
		histograms: map[metrics.ID]metric.Float64Histogram{},
		gauges:     map[metrics.ID]metric.Float64Observable{},
		labels:     map[metrics.ID][]metrics.Label{},
	}
	var observed []metric.Observable
	for _, m := range metrics.All() {
		t.labels[m.ID] = m.Labels
		if err := t.instrument(meter, m); err != nil {
			return nil, fmt.Errorf("otelfence: making %s: %w", m.Name, err)
		}
		if gauge, ok := t.gauges[m.ID]; ok {
			observed = append(observed, gauge)
		}
	}
	t.recorder = metrics.New(sink{t}, opts...)
	registration, err := meter.RegisterCallback(t.observe, observed...)
	if err != nil {
		return nil, fmt.Errorf("otelfence: registering the gauges: %w", err)
	}
	t.registration = registration
	return t, nil
}

func (t *Telemetry) instrument(meter metric.Meter, m metrics.Metric) (err error) {
	unit, help := metric.WithUnit(m.Unit), metric.WithDescription(m.Help)
	switch m.Kind {
	case metrics.Counter:
		t.counters[m.ID], err = meter.Float64Counter(m.Name, unit, help)
	case metrics.Histogram:
		t.histograms[m.ID], err = meter.Float64Histogram(m.Name, unit, help, metric.WithExplicitBucketBoundaries(m.Bounds...))
	case metrics.UpDown:
		t.gauges[m.ID], err = meter.Float64ObservableUpDownCounter(m.Name, unit, help)
	case metrics.Gauge:
		t.gauges[m.ID], err = meter.Float64ObservableGauge(m.Name, unit, help)
	}
	return err
}

// Observer returns the observer that feeds the instruments and adds events to spans: for
// coordinators, guards and generated writers alike.
func (t *Telemetry) Observer() *fencedb.Observer {
	o := t.recorder.Observer()
	decision, grant, end := o.Decision, o.Grant, o.End
	o.Decision = func(ctx context.Context, d fencedb.Decision) {
		decision(ctx, d)
		rejected(ctx, d)
	}
	o.Grant = func(ctx context.Context, g fencedb.GrantReceipt) {
		grant(ctx, g)
		granted(ctx, g)
	}
	o.End = func(ctx context.Context, e fencedb.EndReceipt) {
		end(ctx, e)
		lost(ctx, e)
	}
	return o
}

// Close has the meter forget the gauges, so that this Telemetry can be collected. Receipts
// still count. The error is the meter's.
func (t *Telemetry) Close() error {
	if err := t.registration.Unregister(); err != nil {
		return fmt.Errorf("otelfence: unregistering the gauges: %w", err)
	}
	return nil
}

func (t *Telemetry) observe(_ context.Context, o metric.Observer) error {
	t.recorder.Gauges(func(id metrics.ID, v float64, values ...string) {
		o.ObserveFloat64(t.gauges[id], v, t.attributes(id, values))
	})
	return nil
}

// attributes leaves out what is empty: Prometheus does so by itself.
func (t *Telemetry) attributes(id metrics.ID, values []string) metric.MeasurementOption {
	set := make([]attribute.KeyValue, 0, len(values))
	for i, v := range values {
		if v != "" {
			set = append(set, attribute.String(t.labels[id][i].Name, v))
		}
	}
	return metric.WithAttributeSet(attribute.NewSet(set...))
}

// sink is the Telemetry's side that the recorder counts into. OpenTelemetry makes exemplars
// of the span in the context by itself.
type sink struct{ t *Telemetry }

// Add implements [metrics.Sink].
func (s sink) Add(ctx context.Context, id metrics.ID, _ metrics.By, v float64, values ...string) {
	s.t.counters[id].Add(ctx, v, s.t.attributes(id, values))
}

// Observe implements [metrics.Sink].
func (s sink) Observe(ctx context.Context, id metrics.ID, _ metrics.By, v float64, values ...string) {
	s.t.histograms[id].Record(ctx, v, s.t.attributes(id, values))
}
