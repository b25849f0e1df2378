package protocol

import (
	"fmt"
	"strings"
	"time"
)

// An Instant is a point in time of one process's own clock, in nanoseconds since a point
// that the process chose. Zero is no instant. Instants of two processes have no order.
type Instant int64

// Add returns the instant d later.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d) }

// Sub returns the time from j to i.
func (i Instant) Sub(j Instant) time.Duration { return time.Duration(i - j) }

// Before tells whether i comes before j.
func (i Instant) Before(j Instant) bool { return i < j }

// Timing is what the arithmetic of a lease depends on.
type Timing struct {
	TTL            time.Duration // how long a grant, or a renewal, lasts by the coordinator's clock
	RenewEvery     time.Duration // from one renewal to the next
	AttemptTimeout time.Duration // how long one request may take
	Margin         time.Duration // what it takes to stop the work
	Drift          int64         // bound on the rate error of either clock, in parts per million
}

// The limits of a Timing. A duration over a day is a mistake of units rather than a lease.
const (
	MaxTTL   = 24 * time.Hour
	MaxDrift = 500_000 // parts per million
)

const million = 1_000_000

// shrink returns the time that certainly passes on the holder's clock before ttl has passed
// on the coordinator's. The coordinator's clock may be fast by the bound, and then ttl lasts
// ttl/(1+drift); the holder's may be slow by the bound, and then it sees a part 1-drift of it.
// It rounds down, to whole microseconds.
func shrink(ttl time.Duration, drift int64) time.Duration {
	return time.Duration(ttl.Microseconds()*(million-drift)/(million+drift)) * time.Microsecond
}

// Stretch returns the time that has to pass on a contender's clock until ttl has certainly
// passed on another one: ttl(1+drift)/(1-drift), rounded up to a microsecond. It is for who
// has to wait for the end of a lease and cannot ask the coordinator's clock. Drift is from 0
// to [MaxDrift] parts per million.
func Stretch(ttl time.Duration, drift int64) time.Duration {
	us := ttl.Microseconds() + 1
	return time.Duration((us*(million+drift)+(million-drift)-1)/(million-drift)) * time.Microsecond
}

// Usable returns how long a grant of ttl is certain to last by the holder's clock, counted
// from before the request was sent: ttl(1-drift)/(1+drift).
func (t Timing) Usable(ttl time.Duration) time.Duration { return shrink(ttl, t.Drift) }

// Deadline returns the conservative deadline of a grant, or renewal, of ttl whose request
// was sent at sent or later: sent + ttl(1-drift)/(1+drift) - margin.
func (t Timing) Deadline(sent Instant, ttl time.Duration) Instant {
	return sent.Add(t.Usable(ttl) - t.Margin)
}

// Check returns an error unless a lease can be kept by t: a renewal may be started
// RenewEvery after the last, fail by timeout, be tried once more, and there is still the
// margin to stop the work in. The rule is Patroni's loop_wait + 2*retry_timeout <= ttl, with
// the drift and the margin in it. The error shows the arithmetic.
func (t Timing) Check() error {
	var wrong []string
	positive := func(name string, d time.Duration) {
		if d <= 0 {
			wrong = append(wrong, fmt.Sprintf("%s is %v; it has to be positive", name, d))
		}
	}
	positive("TTL", t.TTL)
	positive("RenewEvery", t.RenewEvery)
	positive("AttemptTimeout", t.AttemptTimeout)
	if t.TTL > MaxTTL {
		wrong = append(wrong, fmt.Sprintf("TTL is %v, more than %v", t.TTL, MaxTTL))
	}
	if t.Margin < 0 {
		wrong = append(wrong, fmt.Sprintf("Margin is %v; it must not be negative", t.Margin))
	}
	if t.Drift < 0 || t.Drift > MaxDrift {
		wrong = append(wrong, fmt.Sprintf("Drift is %s; it has to be from 0 to %s", percent(t.Drift), percent(MaxDrift)))
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%s", strings.Join(wrong, "; "))
	}
	usable, need := t.Usable(t.TTL), t.RenewEvery+2*t.AttemptTimeout+t.Margin
	if need > usable || need < 0 {
		return fmt.Errorf("RenewEvery + 2*AttemptTimeout + Margin = %v + 2*%v + %v = %v is more than TTL*(1-drift)/(1+drift) = %v*(1-%s)/(1+%s) = %v: lengthen the TTL to %v or more, or shorten the others",
			t.RenewEvery, t.AttemptTimeout, t.Margin, need, t.TTL, percent(t.Drift), percent(t.Drift), usable, Stretch(need, t.Drift).Round(time.Millisecond)+time.Millisecond)
	}
	return nil
}

func percent(ppm int64) string { return fmt.Sprintf("%g%%", float64(ppm)/(million/100)) }
