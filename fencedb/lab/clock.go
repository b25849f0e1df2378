package lab

import (
	"time"

	"github.com/fencelint/fence/fencedb/protocol"
)

// A clock shows a time of its own: it is fast or slow, can be set, and can stand still.
type clock struct {
	at    Time  // when it was last changed
	shows int64 // what it showed then, in nanoseconds
	ppm   int64 // how fast it is, in parts per million above the true rate
	still bool  // it does not go on
}

// rate is a clock's rate in parts per million.
func (c *clock) rate() int64 { return 1_000_000 + c.ppm }

// read returns what the clock shows.
func (c *clock) read(now Time) int64 {
	if c.still {
		return c.shows
	}
	d := int64(now - c.at)
	return c.shows + d + d/1_000_000*c.ppm + d%1_000_000*c.ppm/1_000_000
}

// change has the clock go on from what it shows.
func (c *clock) change(now Time, f func(*clock)) {
	c.shows, c.at = c.read(now), now
	f(c)
}

// when returns the first moment at which the clock shows at least t, if it goes on.
func (c *clock) when(now Time, t int64) Time {
	left := t - c.read(now)
	if left <= 0 {
		return now
	}
	at := now + Time(left/c.rate()*1_000_000+left%c.rate()*1_000_000/c.rate())
	for c.read(at) < t {
		at++
	}
	return at
}

// instant is a holder's reading.
func (c *clock) instant(now Time) protocol.Instant { return protocol.Instant(c.read(now)) }

// store is a coordinator's reading, which counts from 1970.
func (c *clock) store(now Time) protocol.StoreTime { return protocol.StoreTime(c.read(now) / 1000) }

// elapsed returns how long it takes until the clock has gone on by d.
func (c *clock) elapsed(now Time, d time.Duration) Time { return c.when(now, c.read(now)+int64(d)) }
