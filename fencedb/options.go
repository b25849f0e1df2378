package fencedb

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/fencelint/fence/fencedb/protocol"
)

// The defaults of [Hold].
const (
	DefaultTTL   = 15 * time.Second
	DefaultDrift = 0.05
)

// ErrInvalidOptions says that the options of [Hold] make no lease that could be kept. The
// error shows which, and the arithmetic.
var ErrInvalidOptions = errors.New("fencedb: invalid options")

// A HoldOption changes what [Hold] and [TryHold] do.
type HoldOption func(*holdConfig)

type holdConfig struct {
	timing     protocol.Timing
	retryEvery time.Duration
	poll       time.Duration
	lockDelay  time.Duration
	owner      string
	guards     []Guard
	abort      bool
	observe    *Observer
	clock      Clock
}

// TTL is how long a grant, and each renewal, lasts by the coordinator's clock:
// [DefaultTTL] without it. The work may use TTL*(1-drift)/(1+drift) - Margin of it, 12.57
// of 15 seconds by default, and after a crash others wait for the whole of it.
func TTL(d time.Duration) HoldOption { return func(c *holdConfig) { c.timing.TTL = d } }

// RenewEvery is the time from one renewal to the next: a third of the TTL without it.
func RenewEvery(d time.Duration) HoldOption { return func(c *holdConfig) { c.timing.RenewEvery = d } }

// AttemptTimeout is how long one request to the coordinator, or to a guard, may take: a
// fifth of the TTL without it. A request never takes longer than the lease has left.
func AttemptTimeout(d time.Duration) HoldOption {
	return func(c *holdConfig) { c.timing.AttemptTimeout = d }
}

// Margin is kept free before the deadline for the work to notice that its context has
// ended: a fifteenth of the TTL without it. It may be 0.
func Margin(d time.Duration) HoldOption { return func(c *holdConfig) { c.timing.Margin = d } }

// Drift bounds by how much the rates of the holder's and of the coordinator's clock may be
// wrong, as a fraction from 0 to 0.5: [DefaultDrift] without it. NTP slews a clock by at
// most 500 parts per million in Linux's kernel; chrony, by default, by up to about 8 %.
func Drift(fraction float64) HoldOption {
	return func(c *holdConfig) { c.timing.Drift = int64(fraction * 1e6) }
}

// LockDelay has the coordinator wait for d after the lease has expired, before it grants
// the resource to another: 0 without it. It is for effects that compare no token, and
// should be the longest time such an effect can be under way. A release needs no delay.
func LockDelay(d time.Duration) HoldOption { return func(c *holdConfig) { c.lockDelay = d } }

// Owner names the holder to people: the host's name and the process's number without it.
// It is at most 255 bytes of UTF-8. Two holders may have the same.
func Owner(name string) HoldOption { return func(c *holdConfig) { c.owner = name } }

// Guards names the guards that have to know the token before the work starts. With none,
// nothing rejects a former holder's late write until this one has written to the same row.
func Guards(g ...Guard) HoldOption {
	return func(c *holdConfig) { c.guards = append(c.guards, g...) }
}

// An Ambiguity says what becomes of the work when the answer to a renewal was lost.
type Ambiguity bool

// What an ambiguous renewal does to the work. With either, it extends nothing.
const (
	KeepRunning Ambiguity = false // it goes on until the deadline proven before, and [Lease.Begin] refuses to start more
	Abort       Ambiguity = true  // its context ends at once
)

// OnAmbiguous is [KeepRunning] without it.
func OnAmbiguous(a Ambiguity) HoldOption { return func(c *holdConfig) { c.abort = bool(a) } }

// RetryEvery is the first wait after a request that failed, doubled at each failure up to
// AttemptTimeout: a sixtieth of the TTL without it.
func RetryEvery(d time.Duration) HoldOption { return func(c *holdConfig) { c.retryEvery = d } }

// PollEvery is how often [Hold] asks for a resource that is held, at least: a fifth of the
// TTL without it. It asks earlier if the resource can be free earlier.
func PollEvery(d time.Duration) HoldOption { return func(c *holdConfig) { c.poll = d } }

// WithObserver has the observers told what happens to the lease.
func WithObserver(o ...*Observer) HoldOption {
	return func(c *holdConfig) { c.observe = Observers(append([]*Observer{c.observe}, o...)...) }
}

// WithClock has the holder read c: [SystemClock] without it.
func WithClock(c Clock) HoldOption { return func(h *holdConfig) { h.clock = c } }

// newHoldConfig applies the options to the defaults, some of which follow from the TTL, and
// checks what came of it.
func newHoldConfig(opts []HoldOption) (holdConfig, error) {
	const unset = -1 << 63
	c := holdConfig{timing: protocol.Timing{TTL: DefaultTTL, Drift: int64(DefaultDrift * 1e6),
		RenewEvery: unset, AttemptTimeout: unset, Margin: unset}, retryEvery: unset, poll: unset}
	for _, o := range opts {
		o(&c)
	}
	for _, d := range []struct {
		is   *time.Duration
		part time.Duration // of the TTL
	}{
		{&c.timing.RenewEvery, 3}, {&c.timing.AttemptTimeout, 5}, {&c.timing.Margin, 15}, {&c.retryEvery, 60}, {&c.poll, 5},
	} {
		if *d.is == unset {
			*d.is = c.timing.TTL / d.part
		}
	}
	if c.owner == "" {
		c.owner = defaultOwner()
	}
	if c.clock == nil {
		c.clock = SystemClock()
	}
	return c, c.check()
}

func (c *holdConfig) check() error {
	if err := c.timing.Check(); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalidOptions, err)
	}
	for i, g := range c.guards {
		if g == nil {
			return fmt.Errorf("%w: guard %d is nil", ErrInvalidOptions, i)
		}
	}
	switch {
	case c.retryEvery <= 0:
		return fmt.Errorf("%w: RetryEvery is %v; it has to be positive", ErrInvalidOptions, c.retryEvery)
	case c.poll <= 0:
		return fmt.Errorf("%w: PollEvery is %v; it has to be positive", ErrInvalidOptions, c.poll)
	case c.lockDelay < 0 || c.lockDelay > protocol.MaxTTL:
		return fmt.Errorf("%w: LockDelay is %v; it has to be from 0 to %v", ErrInvalidOptions, c.lockDelay, protocol.MaxTTL)
	case len(c.owner) > MaxOwner || !utf8.ValidString(c.owner):
		return fmt.Errorf("%w: the owner %q has to be at most %d bytes of UTF-8", ErrInvalidOptions, c.owner, MaxOwner)
	}
	return nil
}

func defaultOwner() string {
	host, err := os.Hostname()
	if err != nil || len(host) > 200 {
		host = "unknown-host"
	}
	return host + ":" + strconv.Itoa(os.Getpid())
}
