package fencedb

import (
	"testing"
	"time"
)

// The system's clock goes at the rate of package time, and does not go back when the wall
// clock seems to have been set.
func TestSystemClock(t *testing.T) {
	c := SystemClock()
	start, began := time.Now(), c.Now()
	last := began
	for time.Since(start) < 50*time.Millisecond {
		now := c.Now()
		if now < last-offsetTolerance {
			t.Fatalf("the clock went back by %v", last-now)
		}
		last = now
	}
	if off := (c.Now() - began - time.Since(start)).Abs(); off > 10*time.Millisecond {
		t.Errorf("off by %v in 50 ms", off)
	}
	if d := time.Since(c.Wall()); d < 0 || d > time.Minute {
		t.Errorf("the wall clock is %v behind", d)
	}
}
