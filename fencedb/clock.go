package fencedb

import "time"

// A Clock is a process's own clock. It is asked often and must be cheap; any number of
// goroutines may use one.
//
// No local clock is proof: a hypervisor that pauses or moves a virtual machine may stop all
// of its clocks, so the holder sees no time pass. That is why what a lease protects has to
// compare its token.
type Clock interface {
	// Now returns the time since some point that the clock chose. It never goes back, and
	// it goes on while the process, or the system, is suspended, as far as the system can tell.
	Now() time.Duration
	// Suspended returns for how long the system was suspended since that point, 0 if it
	// cannot tell.
	Suspended() time.Duration
	// Wall returns the time of day.
	Wall() time.Time
}

// SystemClock returns the clock of this system. On Linux it is CLOCK_BOOTTIME, which counts
// suspended time; Go's own monotonic reading is CLOCK_MONOTONIC there, which does not
// (clock_gettime(2), go.dev/issue/24595). On other systems it is Go's, which on some stops
// while the computer sleeps (package time); a jump of the wall clock against it then makes
// leases uncertain.
func SystemClock() Clock { return newSystemClock() }
