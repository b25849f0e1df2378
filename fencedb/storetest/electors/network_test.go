package electors

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// A fault is what happens to the holder's network: the first renewal that it sends when it has
// been the holder for after is carried out, its answer arrives late by delay, and nothing that
// the holder sends from then on arrives.
type fault struct {
	after, delay time.Duration
}

func (f fault) String() string {
	return fmt.Sprintf("a renewal after %v, its answer late by %v", f.after, f.delay)
}

// faults are the same for all electors. The delays go up to just under the ten seconds for
// which client-go tries to renew, and have one just under the three that fencedb.Hold gives a
// request, and the five of client-go's own Kubernetes client. The moments move the fault
// against whatever the two candidates do periodically.
func faults() []fault {
	var all []fault
	for after := range 10 {
		for i := range 40 {
			all = append(all, fault{
				after: time.Duration(after) * time.Second,
				delay: time.Duration(i+1)*250*time.Millisecond - 10*time.Millisecond,
			})
		}
	}
	return all
}

// latency is how long a message travels between a candidate and a store that is in memory.
const latency = 2 * time.Millisecond

// A network carries the requests of one candidate.
type network struct {
	fault fault

	mu      sync.Mutex
	elected time.Time // zero: no fault strikes
	cut     bool
}

// strikeAfter has the fault strike a candidate that was elected at that time.
func (n *network) strikeAfter(elected time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.elected = elected
}

// struck tells whether the fault has struck.
func (n *network) struck() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.cut
}

// send says what becomes of a request that is sent now: whether it is lost, and by how much
// its answer is late.
func (n *network) send(renewal bool) (lost bool, late time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.cut:
		return true, 0
	case renewal && !n.elected.IsZero() && time.Since(n.elected) >= n.fault.after:
		n.cut = true
		return false, n.fault.delay
	}
	return false, 0
}

// wait waits for d, or until ctx ends, which is its error.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
