package fencedb_test

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/fencedbtest"
)

var hours = flag.Int("hours", 3, "how long TestAbortOnAmbiguity plays, in virtual hours")

// What it costs to end the work at every ambiguous renewal, and what it would gain: the
// figures of docs/renewal.md. go test -v -run TestAbortOnAmbiguity ./fencedb -hours 24 prints them.
func TestAbortOnAmbiguity(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves out what plays some hours: go test -run TestAbortOnAmbiguity ./fencedb")
	}
	during := time.Duration(*hours) * time.Hour
	for _, lost := range []float64{0.01, 0.05} {
		keep := ambiguous(t, fencedb.KeepRunning, lost, during)
		abort := ambiguous(t, fencedb.Abort, lost, during)
		t.Logf("%4.1f %% of answers lost, %v: %4d ambiguous renewals; keep running: %d leases lost, held %.2f %% of the time; abort: %d lost, held %.2f %%; overlaps %d and %d",
			lost*100, during, keep.ambiguous, keep.lost, keep.held*100, abort.lost, abort.held*100, keep.overlaps, abort.overlaps)
		if keep.overlaps != 0 || abort.overlaps != 0 {
			t.Errorf("two leases were valid at once: %d and %d times", keep.overlaps, abort.overlaps)
		}
		if abort.lost < 5*max(keep.lost, 1) || keep.ambiguous == 0 {
			t.Errorf("%d lost by abort, %d otherwise, %d ambiguous", abort.lost, keep.lost, keep.ambiguous)
		}
	}
}

type ambiguityFigures struct {
	ambiguous, lost, overlaps int
	held                      float64 // part of the time in which somebody held it
}

// ambiguous has two workers want one lease while a part of the renewals' answers is lost.
func ambiguous(t *testing.T, a fencedb.Ambiguity, part float64, during time.Duration) (f ambiguityFigures) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		random := rand.New(rand.NewPCG(1, uint64(part*1e6)))
		c := fencedbtest.NewCoordinator("default", fencedbtest.WithFaults(func(_ context.Context, call fencedbtest.Call) fencedbtest.FaultPlan {
			mu.Lock()
			defer mu.Unlock()
			return fencedbtest.FaultPlan{AfterDelay: 5 * time.Millisecond, LoseReply: call.Op == fencedbtest.OpRenew && random.Float64() < part}
		}))
		observer := &fencedb.Observer{Renew: func(_ context.Context, r fencedb.RenewReceipt) {
			if r.Outcome == fencedb.RenewAmbiguous {
				f.ambiguous++
			}
		}}
		ctx, cancel := context.WithTimeout(t.Context(), during)
		defer cancel()
		var leases [2]*fencedb.Lease
		var group sync.WaitGroup
		for i := range leases {
			group.Go(func() {
				for ctx.Err() == nil {
					err := fencedb.Hold(ctx, c, daily, func(ctx context.Context, l *fencedb.Lease) error {
						mu.Lock()
						leases[i] = l
						mu.Unlock()
						<-ctx.Done()
						return nil
					}, clocked(fencedb.OnAmbiguous(a), fencedb.WithObserver(observer))...)
					if errors.Is(err, fencedb.ErrLeaseExpired) {
						mu.Lock()
						f.lost++
						mu.Unlock()
					}
				}
			})
		}
		var samples, held int
		for ctx.Err() == nil {
			time.Sleep(100 * time.Millisecond)
			mu.Lock()
			valid := 0
			for _, l := range leases {
				if l != nil && l.Valid() {
					valid++
				}
			}
			mu.Unlock()
			samples++
			held += min(valid, 1)
			f.overlaps += max(valid-1, 0)
		}
		group.Wait()
		f.held = float64(held) / float64(samples)
	})
	return f
}
