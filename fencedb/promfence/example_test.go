package promfence_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/fencedbtest"
	"github.com/fencelint/fence/fencedb/metrics"
	"github.com/fencelint/fence/fencedb/promfence"
)

// One collector listens to leases and guards, beside a log.
func Example() {
	collector := promfence.New(metrics.LeaseClass(func(resource string) string {
		class, _, _ := strings.Cut(resource, ":")
		return class
	}))
	registry := prometheus.NewRegistry() // or prometheus.DefaultRegisterer
	registry.MustRegister(collector)

	logger := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	observer := fencedb.Observers(fencedb.LogReceipts(logger), collector.Observer())
	guards, err := fencedb.NewGuardTable(fencedb.Postgres, fencedb.ObservedBy(observer))
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = guards // guards.On(db), to be named by fencedb.Guards

	coordinator := fencedbtest.NewCoordinator("orders") // a program has one of a database
	err = fencedb.Hold(context.Background(), coordinator, "orders:4711", func(context.Context, *fencedb.Lease) error {
		families, err := registry.Gather()
		for _, f := range families {
			if f.GetName() == "fence_lease_held" {
				m := f.GetMetric()[0]
				fmt.Println(m.GetLabel()[0].GetName(), m.GetLabel()[0].GetValue(), m.GetGauge().GetValue())
			}
		}
		return err
	}, fencedb.WithObserver(observer))
	if err != nil {
		fmt.Println(err)
	}
	// Output: lease_class orders 1
}
