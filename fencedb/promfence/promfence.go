// Package promfence shows Prometheus what fence does: leases, renewals, guards and tokens,
// by the names of docs/observability.md. It opens no port and registers itself nowhere:
//
//	collector := promfence.New()
//	prometheus.MustRegister(collector)
//	guards, err := fencedb.NewGuardTable(fencedb.Postgres, fencedb.ObservedBy(collector.Observer()))
//	err = fencedb.Hold(ctx, coordinator, "orders:daily", work, fencedb.WithObserver(collector.Observer()))
//
// The rules in alerts/fence.rules.yaml go with it; docs/alerts.md says what to do about each.
package promfence

import (
	"context"
	"strconv"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/metrics"
)

// A Collector is a [prometheus.Collector] of everything that its [Collector.Observer] is
// told. One is enough for a process, however many coordinators, guards and writers it has.
// Its methods may be called by any number of goroutines.
type Collector struct {
	recorder   *metrics.Recorder
	counters   map[metrics.ID]*prometheus.CounterVec
	histograms map[metrics.ID]*prometheus.HistogramVec
	gauges     map[metrics.ID]*prometheus.Desc
}

// New returns a Collector to be registered. The options are those of package metrics.
func New(opts ...metrics.Option) *Collector {
	c := &Collector{
		counters:   map[metrics.ID]*prometheus.CounterVec{},
		histograms: map[metrics.ID]*prometheus.HistogramVec{},
		gauges:     map[metrics.ID]*prometheus.Desc{},
	}
	for _, m := range metrics.All() {
		labels := names(m.Labels)
		switch m.Kind {
		case metrics.Counter:
			c.counters[m.ID] = prometheus.NewCounterVec(prometheus.CounterOpts{Name: m.Prometheus, Help: m.Help}, labels)
		case metrics.Histogram:
			c.histograms[m.ID] = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: m.Prometheus, Help: m.Help, Buckets: m.Bounds}, labels)
		case metrics.Gauge, metrics.UpDown:
			c.gauges[m.ID] = prometheus.NewDesc(m.Prometheus, m.Help, labels, nil)
		}
	}
	c.recorder = metrics.New(sink{c}, opts...)
	return c
}

func names(labels []metrics.Label) []string {
	names := make([]string, len(labels))
	for i, l := range labels {
		names[i] = l.Name
	}
	return names
}

// Observer returns the observer that feeds the collector: for coordinators, guards and
// generated writers alike.
func (c *Collector) Observer() *fencedb.Observer { return c.recorder.Observer() }

// Describe implements [prometheus.Collector].
func (c *Collector) Describe(ch chan<- *prometheus.Desc) {
	for _, v := range c.counters {
		v.Describe(ch)
	}
	for _, v := range c.histograms {
		v.Describe(ch)
	}
	for _, d := range c.gauges {
		ch <- d
	}
}

// Collect implements [prometheus.Collector]. It reads the deadline of every lease that is
// held, so it takes time in proportion to their number.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	for _, v := range c.counters {
		v.Collect(ch)
	}
	for _, v := range c.histograms {
		v.Collect(ch)
	}
	c.recorder.Gauges(func(id metrics.ID, v float64, values ...string) {
		m, err := prometheus.NewConstMetric(c.gauges[id], prometheus.GaugeValue, v, values...)
		if err != nil {
			m = prometheus.NewInvalidMetric(c.gauges[id], err) // the scrape says it
		}
		ch <- m
	})
}

// sink is the Collector's side that the recorder counts into.
type sink struct{ c *Collector }

// Add implements [metrics.Sink].
func (s sink) Add(_ context.Context, id metrics.ID, by metrics.By, v float64, values ...string) {
	counter := s.c.counters[id].WithLabelValues(values...)
	e := exemplar(by)
	if adder, ok := counter.(prometheus.ExemplarAdder); ok && e != nil && v > 0 {
		adder.AddWithExemplar(v, e)
		return
	}
	counter.Add(v)
}

// Observe implements [metrics.Sink].
func (s sink) Observe(_ context.Context, id metrics.ID, by metrics.By, v float64, values ...string) {
	histogram := s.c.histograms[id].WithLabelValues(values...)
	e := exemplar(by)
	if observer, ok := histogram.(prometheus.ExemplarObserver); ok && e != nil {
		observer.ObserveWithExemplar(v, e)
		return
	}
	histogram.Observe(v)
}

// exemplar names the grant behind a measurement, nil if it is not known. OpenMetrics allows
// 128 characters for names and values; the names and the longest value of a token need 29,
// and a grant id is at most [fencedb.MaxGrant]. One that is not is left out, since
// client_golang panics at an exemplar that is too long.
func exemplar(by metrics.By) prometheus.Labels {
	if by.Token == 0 && by.Grant == "" {
		return nil
	}
	labels := prometheus.Labels{"token": strconv.FormatInt(by.Token, 10)}
	if by.Grant != "" && len(by.Grant) <= fencedb.MaxGrant && utf8.ValidString(by.Grant) {
		labels["grant"] = by.Grant
	}
	return labels
}
