package protocol

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func TestDeadline(t *testing.T) {
	for _, test := range []struct {
		ttl, margin, want time.Duration
		drift             int64
	}{
		{15 * time.Second, time.Second, 12571428 * time.Microsecond, 50_000},
		{15 * time.Second, time.Second, 14 * time.Second, 0},
		{15 * time.Second, 0, 15 * time.Second, 0},
		{3 * time.Second, 0, time.Second, 500_000},
		{24 * time.Hour, 0, 28800 * time.Second, 500_000},
		{time.Millisecond, time.Second, time.Millisecond*904/1000 - time.Second, 50_000},
	} {
		timing := Timing{TTL: test.ttl, Margin: test.margin, Drift: test.drift}
		if got := timing.Deadline(1000, test.ttl).Sub(1000); got != test.want {
			t.Errorf("%v, margin %v, drift %d: %v, want %v", test.ttl, test.margin, test.drift, got, test.want)
		}
	}
}

// A holder whose clock is as slow as the bound allows stops before a coordinator whose
// clock is as fast as it allows; and who waits Stretch waits long enough.
func TestWindowAtTheBound(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		ttl, drift := time.Duration(1+random.Int64N(int64(time.Hour))), random.Int64N(MaxDrift+1)
		rho := float64(drift) / million
		usable := (Timing{Drift: drift}).Usable(ttl)
		trueStop, trueExpiry := float64(usable)/(1-rho), float64(ttl)/(1+rho)
		if trueStop > trueExpiry {
			t.Fatalf("ttl %v, drift %d: the holder stops %v too late", ttl, drift, time.Duration(trueStop-trueExpiry))
		}
		if slack := trueExpiry - trueStop; slack > float64(4*time.Microsecond) {
			t.Fatalf("ttl %v, drift %d: %v are given away", ttl, drift, time.Duration(slack))
		}
		if waited, lasts := float64(Stretch(ttl, drift))/(1+rho), float64(ttl)/(1-rho); waited < lasts {
			t.Fatalf("ttl %v, drift %d: a contender comes %v too early", ttl, drift, time.Duration(lasts-waited))
		}
	}
}

func TestTimingCheck(t *testing.T) {
	good := config.Timing
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for name, test := range map[string]struct {
		change func(*Timing)
		want   string
	}{
		"no TTL":         {func(t *Timing) { t.TTL = 0 }, "TTL is 0s"},
		"no RenewEvery":  {func(t *Timing) { t.RenewEvery = 0 }, "RenewEvery is 0s"},
		"negative":       {func(t *Timing) { t.AttemptTimeout = -1 }, "AttemptTimeout is -1ns"},
		"drift":          {func(t *Timing) { t.Drift = -1 }, "Drift is -0.0001%"},
		"overflow":       {func(t *Timing) { t.RenewEvery = 1<<63 - 1 }, "lengthen the TTL"},
		"no second try":  {func(t *Timing) { t.AttemptTimeout = 4 * time.Second }, "5s + 2*4s + 1s = 14s is more than TTL*(1-drift)/(1+drift) = 15s*(1-5%)/(1+5%) = 13.571428s: lengthen the TTL to 15.47"},
		"several faults": {func(t *Timing) { t.TTL, t.Margin = -1, -1 }, "TTL is -1ns; it has to be positive; Margin is -1ns"},
	} {
		timing := good
		test.change(&timing)
		if err := timing.Check(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
}

// The TTL that the error proposes passes.
func TestTimingCheckProposesWhatPasses(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 10_000 {
		timing := Timing{TTL: time.Duration(1 + random.Int64N(int64(time.Minute))), RenewEvery: time.Duration(1 + random.Int64N(int64(time.Minute))),
			AttemptTimeout: time.Duration(1 + random.Int64N(int64(time.Minute))), Margin: time.Duration(random.Int64N(int64(time.Second))), Drift: random.Int64N(100_000)}
		err := timing.Check()
		if err == nil {
			continue
		}
		_, proposal, ok := strings.Cut(err.Error(), "lengthen the TTL to ")
		if !ok {
			t.Fatal(err)
		}
		proposal, _, _ = strings.Cut(proposal, " ")
		if timing.TTL, err = time.ParseDuration(proposal); err != nil {
			t.Fatal(err)
		}
		if err := timing.Check(); err != nil {
			t.Fatal(err)
		}
	}
}
