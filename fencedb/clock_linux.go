package fencedb

import (
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// The clocks of clock_gettime(2).
const (
	clockMonotonic = 1
	clockBoottime  = 7
)

// A systemClock adds the suspended time to Go's monotonic reading. To ask the kernel for
// CLOCK_BOOTTIME takes a system call, which package time does without, so it is asked when
// there is a sign of a suspension: the wall clock, which the kernel sets on after one, has
// moved against the monotonic one.
type systemClock struct {
	start time.Time
	seen  atomic.Pointer[offsets]
}

// offsets are what other clocks were ahead of Go's monotonic one at one moment.
type offsets struct {
	wall, boot time.Duration
}

// offsetTolerance is far above the time between two readings of a clock, and far below any
// suspension.
const offsetTolerance = time.Millisecond

func newSystemClock() Clock { return &systemClock{start: time.Now()} }

func (c *systemClock) Now() time.Duration {
	t := time.Now()
	mono := t.Sub(c.start)
	wall := time.Duration(t.UnixNano()) - mono
	seen := c.seen.Load()
	if seen == nil || (wall-seen.wall).Abs() > offsetTolerance {
		next := &offsets{wall, suspended()}
		if seen != nil {
			next.boot = max(next.boot, seen.boot) // which is measured to some microseconds
		}
		c.seen.Store(next)
		seen = next
	}
	return mono + seen.boot
}

func (c *systemClock) Suspended() time.Duration { return suspended() }

func (c *systemClock) Wall() time.Time { return time.Now().Round(0) }

// suspended returns for how long the system was suspended since it was started.
func suspended() time.Duration {
	// In this order the difference is at most too large, by the time between the readings:
	// a deadline comes too early rather than too late.
	mono := readClock(clockMonotonic)
	return readClock(clockBoottime) - mono
}

// readClock cannot fail: both clocks exist since Linux 2.6.39, and Go needs a later one.
func readClock(id uintptr) time.Duration {
	var ts syscall.Timespec
	_, _, _ = syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, id, uintptr(unsafe.Pointer(&ts)), 0)
	return time.Duration(ts.Nano())
}
