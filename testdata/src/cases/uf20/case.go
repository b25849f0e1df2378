package uf20

import (
	"context"
	"errors"
	"sync"
	"time"
)

var ErrNotLeader = errors.New("leadership is not certain")

// Quorum confirms the leadership with a majority of the peers.
type Quorum interface {
	Confirm(ctx context.Context, term uint64) error
}

// readLease lets the leader answer reads without asking the quorum.
type readLease struct {
	term       uint64
	leaseUntil time.Time
}

func grant(term uint64, sent time.Time, d, drift time.Duration) readLease {
	return readLease{term: term, leaseUntil: sent.In(time.UTC).Add(d - drift)} // may:T
}

func (l readLease) usable() bool {
	return time.Now().Before(l.leaseUntil) // want:T
}

// stepDown is when the leader must have heard from the quorum again; seconds
// are enough for the log.
type stepDown struct{ at time.Time }

func after(d time.Duration) stepDown {
	return stepDown{at: time.Now().Add(d).Truncate(time.Second)} // may:T
}

func (s stepDown) due() bool {
	return !s.at.After(time.Now()) // want:T
}

type Leader struct {
	q     Quorum
	hold  time.Duration
	drift time.Duration

	mu    sync.Mutex
	lease readLease
	down  stepDown
}

func (l *Leader) Extend(ctx context.Context, term uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	sent := time.Now()
	if err := l.q.Confirm(ctx, term); err != nil {
		return err
	}
	l.lease = grant(term, sent, l.hold, l.drift)
	l.down = after(l.hold - l.drift) // may:M
	return nil
}

func (l *Leader) Read(term uint64, get func() []byte) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lease.term != term || !l.lease.usable() || l.down.due() { // may:T
		return nil, ErrNotLeader
	}
	return get(), nil
}
