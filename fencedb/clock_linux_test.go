package fencedb

import (
	"testing"
	"time"
)

// A suspension shows as the wall clock and CLOCK_BOOTTIME moving on together, against Go's
// monotonic reading. The machine cannot be suspended here, so the clock is made to
// remember that the others were behind.
func TestSystemClockCountsSuspendedTime(t *testing.T) {
	c := &systemClock{start: time.Now()}
	before := c.Now()
	seen := c.seen.Load()
	const slept = 3 * time.Second
	c.seen.Store(&offsets{wall: seen.wall - slept, boot: seen.boot - slept})
	if d := c.Now() - before; d < 0 || d > time.Second {
		t.Errorf("after the wall clock had jumped the clock read %v later, want what CLOCK_BOOTTIME says", d)
	}
	if now := c.seen.Load(); (now.wall - seen.wall).Abs() > time.Second {
		t.Error("the clock was not asked again")
	}
	// Without a sign of a suspension the kernel is not asked.
	c.seen.Store(&offsets{wall: c.seen.Load().wall, boot: 7 * time.Hour})
	if d := c.Now(); d < 7*time.Hour {
		t.Errorf("the clock read %v", d)
	}
}

func TestSystemClockIsBoottime(t *testing.T) {
	c := newSystemClock()
	a, b := c.Now(), readClock(clockBoottime)
	time.Sleep(20 * time.Millisecond)
	if d := (c.Now() - a) - (readClock(clockBoottime) - b); d.Abs() > 10*time.Millisecond {
		t.Errorf("the clock is off CLOCK_BOOTTIME by %v in 20 ms", d)
	}
}
