package lab

import (
	"testing"
	"time"
)

// One core: how many events, and how much simulated time, a second.
func BenchmarkExplore(b *testing.B) {
	for _, name := range []string{"storm", "late-replies", "late-writes"} {
		b.Run(name, func(b *testing.B) {
			s, err := Lookup(name)
			if err != nil {
				b.Fatal(err)
			}
			var events uint64
			var simulated Time
			seed := uint64(1)
			start := time.Now()
			for b.Loop() {
				r := Explore(s, seed, 64, Options{}, 1)
				if r.First != nil {
					b.Fatalf("seed %d: %v", r.First.Seed, r.First.Violation)
				}
				seed += 64
				events += r.Events
				simulated += r.Simulated
			}
			took := time.Since(start).Seconds()
			b.ReportMetric(float64(events)/took, "events/s")
			b.ReportMetric(time.Duration(simulated).Hours()/24/took, "days/s")
		})
	}
}
