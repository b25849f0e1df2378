//go:build linux

package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/storetest/takeovers/journal"
)

// A store is where a worker's leases and writes are.
type store interface {
	// coordinator grants the leases, guard is raised before the work.
	coordinator() fencedb.Coordinator
	guard() fencedb.Guard
	// write makes one guarded write. It may stay in its transaction for a while.
	write(ctx context.Context, t fencedb.Token, n int64, stay time.Duration) error
	close() error
}

// Run works until ctx ends, and gives back what it holds then. Events are written to out, each
// in one write.
func Run(ctx context.Context, c Config, out io.Writer) error {
	s, err := open(c)
	if err != nil {
		return fmt.Errorf("worker: opening %s: %w", c.Store, err)
	}
	w := &worker{Config: c, clock: NewClock(), store: s, out: out}
	var all sync.WaitGroup
	for i, resource := range c.Resources {
		h := &holder{worker: w, resource: resource, random: rand.New(rand.NewPCG(c.Seed, uint64(i)))}
		all.Go(func() { h.run(ctx) })
	}
	all.Wait()
	return errors.Join(w.failure(), s.close())
}

func open(c Config) (store, error) {
	if c.Store == Etcd {
		return openEtcd(c)
	}
	return openSQL(c)
}

type worker struct {
	Config
	clock  Clock
	store  store
	writes atomic.Int64

	mu  sync.Mutex // for lines that are whole
	out io.Writer
	err error // of writing them
}

func (w *worker) tell(e journal.Event) {
	e.Worker = w.Name
	line, err := json.Marshal(e)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		_, err = w.out.Write(append(line, '\n'))
	}
	w.err = errors.Join(w.err, err)
}

func (w *worker) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// A holder wants one resource, again and again.
type holder struct {
	*worker
	resource string
	random   *rand.Rand
	watches  sync.WaitGroup
	granted  atomic.Pointer[fencedb.Grant] // the last
}

func (h *holder) tell(e journal.Event) {
	e.Resource = h.resource
	h.worker.tell(e)
}

// between returns a random time.
func (h *holder) between(least, most time.Duration) time.Duration {
	return least + time.Duration(h.random.Int64N(int64(most-least)))
}

func (h *holder) run(ctx context.Context) {
	defer h.watches.Wait()
	clock := newWrong(h.Rate)
	observer := &fencedb.Observer{Renew: h.renewed}
	for ctx.Err() == nil {
		err := fencedb.Hold(ctx, told{h.store.coordinator(), h}, h.resource, h.work,
			fencedb.TTL(h.TTL), fencedb.RenewEvery(h.TTL/5), fencedb.AttemptTimeout(AttemptTimeout(h.TTL)), fencedb.Margin(h.TTL/30),
			fencedb.PollEvery(h.TTL/2), fencedb.WithClock(clock), fencedb.Guards(h.store.guard()), fencedb.WithObserver(observer), fencedb.Owner(h.Name))
		if lost := (*fencedb.LostError)(nil); err != nil && !errors.As(err, &lost) && ctx.Err() == nil {
			h.tell(journal.Event{Kind: journal.Failed, At: h.clock.Now(), Result: err.Error()})
		}
		sleep(ctx, h.between(0, h.TTL/2))
	}
}

// AttemptTimeout is how long one request of a worker may take: more than by default, since a
// TTL is short beside the time that it takes to connect.
func AttemptTimeout(ttl time.Duration) time.Duration { return ttl * 8 / 25 }

// work writes until the lease ends, or for a while; and at times on from there.
func (h *holder) work(ctx context.Context, lease *fencedb.Lease) error {
	// The watch goes on after this: the lease must not be valid once it can be released.
	defer func() { h.tell(journal.Event{Kind: journal.Returned, At: h.clock.Now(), Token: lease.Token().Value()}) }()
	h.started(lease)
	h.watches.Go(func() { h.watch(lease) })
	end := time.Now().Add(h.between(5*h.TTL, 20*h.TTL))
	for ctx.Err() == nil && time.Now().Before(end) {
		h.write(ctx, lease.Token(), false)
		sleep(ctx, h.between(20*time.Millisecond, 150*time.Millisecond))
	}
	if ctx.Err() == nil {
		return nil
	}
	for range h.random.IntN(2) * h.random.IntN(20) {
		h.write(context.WithoutCancel(ctx), lease.Token(), true)
		time.Sleep(h.between(0, h.TTL/5))
	}
	return ctx.Err()
}

// started tells of a lease at the start of its work.
func (h *holder) started(lease *fencedb.Lease) {
	e := journal.Event{Kind: journal.Started, At: h.clock.Now(), Token: lease.Token().Value(), Grant: lease.Token().Grant()}
	var after journal.Instant
	if e.Until, after = h.deadline(lease); e.Until != 0 {
		e.From = after
	}
	if g := h.granted.Load(); g != nil && g.Token == lease.Token() && g.Predecessor.End == "expired" {
		// The store's clock is this machine's.
		e.Before, e.Waited = g.Predecessor.Value, time.Since(g.Predecessor.Ended)
	}
	h.tell(e)
}

// renewed tells of a deadline that was moved on.
func (h *holder) renewed(_ context.Context, r fencedb.RenewReceipt) {
	if r.Outcome != fencedb.RenewOK {
		return
	}
	if until, _ := h.deadline(r.Lease); until != 0 {
		h.tell(journal.Event{Kind: journal.Renewed, At: h.clock.Now(), Token: r.Lease.Token().Value(), Until: until})
	}
}

// watch looks at a lease until it is not valid any more. A process that was stopped meanwhile
// finds it so when it wakes up.
func (h *holder) watch(lease *fencedb.Lease) {
	every := time.NewTicker(watchEvery)
	defer every.Stop()
	var last journal.Instant
	for {
		before := h.clock.Now()
		if !lease.Valid() {
			h.tell(journal.Event{Kind: journal.Invalid, At: before, From: last, Token: lease.Token().Value()})
			return
		}
		last = before
		<-every.C
	}
}

// watchEvery is how often the watch looks.
const watchEvery = 20 * time.Millisecond

// deadline returns the lease's deadline, or a moment earlier, and when it was read: the lease was valid
// then. Zero says that it was not.
func (w *worker) deadline(lease *fencedb.Lease) (until, read journal.Instant) {
	for {
		before := w.clock.Now()
		left := lease.Remaining()
		after := w.clock.Now()
		if left == 0 {
			return 0, 0
		}
		if time.Duration(after-before) < precise {
			return before.Add(time.Duration(float64(left) / w.Rate)), after
		}
	}
}

// precise is how far two readings of the clock may be apart.
const precise = 50 * time.Microsecond

// write makes one write and tells of its answer.
func (h *holder) write(ctx context.Context, t fencedb.Token, late bool) {
	ctx, cancel := context.WithTimeout(ctx, h.TTL)
	defer cancel()
	n := h.writes.Add(1)
	stay := time.Duration(0)
	if h.random.IntN(4) == 0 {
		stay = h.between(0, h.TTL/10)
	}
	err := h.store.write(ctx, t, n, stay)
	h.worker.tell(journal.Event{Kind: journal.Wrote, At: h.clock.Now(), Resource: h.resource, Token: t.Value(), N: n, Late: late, Result: string(fencedb.ResultOf(err))})
}

// told is a coordinator that has its answers told.
type told struct {
	fencedb.Coordinator
	holder *holder
}

func (c told) Acquire(ctx context.Context, r fencedb.AcquireRequest) (fencedb.Grant, error) {
	e := journal.Event{Kind: journal.Asked, Sent: c.holder.clock.Now(), Grant: r.GrantID}
	g, err := c.Coordinator.Acquire(ctx, r)
	e.At, e.Token = c.holder.clock.Now(), g.Token.Value()
	if err == nil {
		c.holder.granted.Store(&g)
	}
	if err != nil {
		e.Result = err.Error()
	}
	if !errors.Is(err, fencedb.ErrHeld) {
		c.holder.tell(e)
	}
	return g, err
}

func (c told) Renew(ctx context.Context, r fencedb.RenewRequest) (fencedb.Renewal, error) {
	renewal, err := c.Coordinator.Renew(ctx, r)
	at := c.holder.clock.Now()
	for _, no := range []error{fencedb.ErrSuperseded, fencedb.ErrLeaseExpired, fencedb.ErrReleased} {
		if errors.Is(err, no) {
			c.holder.tell(journal.Event{Kind: journal.Refused, At: at, Token: r.Token.Value(), Result: err.Error()})
			break
		}
	}
	return renewal, err
}

// sleep waits for d, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
