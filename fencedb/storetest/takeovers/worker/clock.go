//go:build linux

package worker

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/storetest/takeovers/journal"
)

// A Clock tells instants. It was compared with CLOCK_BOOTTIME when it was made and counts by
// Go's clock from then on, which needs no system call: the two part only when the system is
// suspended, during which there is no run.
type Clock struct {
	began time.Time
	at    journal.Instant
}

// NewClock returns a clock that is right to within 20 µs.
func NewClock() Clock {
	for {
		before := time.Now()
		var ts unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
			panic(fmt.Sprintf("worker: CLOCK_BOOTTIME: %v", err)) // it exists since Linux 2.6.39
		}
		if took := time.Since(before); took < 40*time.Microsecond {
			return Clock{before, journal.Instant(ts.Nano()).Add(-took / 2)}
		}
	}
}

// Now returns the instant.
func (c Clock) Now() journal.Instant { return c.at.Add(time.Since(c.began)) }

// wrong is a clock whose rate is wrong: it counts rate seconds in a second.
type wrong struct {
	fencedb.Clock
	rate  float64
	now   time.Duration // when it was made
	began time.Time
}

func newWrong(rate float64) fencedb.Clock {
	c := fencedb.SystemClock()
	return wrong{c, rate, c.Now(), c.Wall()}
}

func (c wrong) Now() time.Duration {
	return c.now + time.Duration(float64(c.Clock.Now()-c.now)*c.rate)
}

func (c wrong) Wall() time.Time { return c.began.Add(c.Now() - c.now) }
