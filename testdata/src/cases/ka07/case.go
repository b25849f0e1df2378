// Package ka07 reprices offers on the elected replica.
package ka07

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"example.com/corpus/cases/ka07/catalogdb"
)

type Pricer interface {
	Quote(ctx context.Context, sku string, old int64) (int64, error)
}

type Repricer struct {
	q      *catalogdb.Queries
	pricer Pricer
	every  time.Duration
}

func NewRepricer(pool *pgxpool.Pool, p Pricer) *Repricer {
	return &Repricer{q: catalogdb.New(pool), pricer: p, every: time.Minute}
}

func (r *Repricer) Start(ctx context.Context, lock resourcelock.Interface) {
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock:          lock,
		LeaseDuration: 15 * time.Second,
		RenewDeadline: 10 * time.Second,
		RetryPeriod:   2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: r.loop,
			OnStoppedLeading: func() { slog.Info("repricer: no longer leading") }, // may:M
		},
	})
}

func (r *Repricer) loop(ctx context.Context) {
	t := time.NewTicker(r.every)
	defer t.Stop()
	for {
		if err := r.pass(ctx); err != nil { // may:C
			slog.Error("reprice", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

func (r *Repricer) pass(ctx context.Context) error {
	offers, err := r.q.ListOffers(ctx)
	if err != nil {
		return err
	}
	for _, o := range offers {
		price, err := r.pricer.Quote(ctx, o.Sku, o.PriceCents)
		if err != nil {
			return err
		}
		if price == o.PriceCents {
			continue
		}
		if err := r.q.SetOfferPrice(ctx, catalogdb.SetOfferPriceParams{Sku: o.Sku, PriceCents: price}); err != nil { // want:C|W
			return err
		}
	}
	return nil
}
