package fencedbtest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/protocol"
)

// A Coordinator is a [fencedb.Coordinator] in the memory of the test. It decides by package
// protocol, as those of databases do, and passes [RunCoordinator]. Time is of package time
// unless an option says otherwise, so it is virtual inside a testing/synctest bubble.
//
// A Coordinator is a handle, as one process has it: [Coordinator.Handle] makes another one of
// the same store, with faults of its own. It starts no goroutine and need not be closed.
// Any number of goroutines may use one.
type Coordinator struct {
	store   *store
	network *network
}

// An Option changes what [NewCoordinator] makes.
type Option func(*options)

type options struct {
	faults Faults
	clock  func() time.Time
	rate   float64
	raises bool
}

// WithFaults has f decide what becomes of each request of the first handle.
func WithFaults(f Faults) Option { return func(o *options) { o.faults = f } }

// WithClock gives the store a clock: time.Now without it. It may jump and go back. It is
// called by several goroutines at once.
func WithClock(now func() time.Time) Option { return func(o *options) { o.clock = now } }

// WithClockRate has the store's clock run at rate times the speed of the one it has, from now
// on: 1.05 is a clock that is fast by 5 %. The rate has to be positive.
func WithClockRate(rate float64) Option { return func(o *options) { o.rate = rate } }

// WithGrantRaises has the guards of a request that are made by [NewGuard] raised in the same
// atomic step as the grant, as a database does with its own guard rows: [fencedb.Grant].Raised
// says so. Without it the holder has to raise them. Contenders have to name them in one order,
// or two of them may wait for each other until their contexts end.
func WithGrantRaises() Option { return func(o *options) { o.raises = true } }

// NewCoordinator returns a coordinator with a store of its own, in which nothing was granted.
func NewCoordinator(namespace string, opts ...Option) *Coordinator {
	o := options{clock: time.Now, rate: 1}
	for _, opt := range opts {
		opt(&o)
	}
	s := &store{namespace: namespace, clock: o.clock, rate: o.rate, raises: o.raises, began: o.clock(), leases: make(map[string]lease)}
	return &Coordinator{store: s, network: &network{faults: o.faults}}
}

// Handle returns another handle of the same store, as another process has one. Faults, which
// may be nil, decides about its requests alone.
func (c *Coordinator) Handle(faults Faults) *Coordinator {
	return &Coordinator{store: c.store, network: &network{faults: faults}}
}

// Namespace returns the name that was given to [NewCoordinator].
func (c *Coordinator) Namespace() string { return c.store.namespace }

// Acquire implements [fencedb.Coordinator].
func (c *Coordinator) Acquire(ctx context.Context, r fencedb.AcquireRequest) (fencedb.Grant, error) {
	if err := r.Check(); err != nil {
		return fencedb.Grant{}, err
	}
	call := Call{Op: OpAcquire, Resource: r.Resource, Owner: r.Owner, GrantID: r.GrantID}
	return send(ctx, c.network, call, func() (fencedb.Grant, error) { return c.store.acquire(ctx, r) })
}

// Renew implements [fencedb.Coordinator].
func (c *Coordinator) Renew(ctx context.Context, r fencedb.RenewRequest) (fencedb.Renewal, error) {
	if err := r.Check(); err != nil {
		return fencedb.Renewal{}, err
	}
	return send(ctx, c.network, about(OpRenew, r.Token), func() (fencedb.Renewal, error) { return c.store.renew(r) })
}

// Release implements [fencedb.Coordinator].
func (c *Coordinator) Release(ctx context.Context, t fencedb.Token) error {
	if err := fencedb.CheckGranted(t); err != nil {
		return err
	}
	_, err := send(ctx, c.network, about(OpRelease, t), func() (struct{}, error) { return struct{}{}, c.store.release(t) })
	return err
}

// Observe implements [fencedb.Coordinator].
func (c *Coordinator) Observe(ctx context.Context, resource string) (fencedb.Observation, error) {
	if _, err := fencedb.ExternalToken(resource, 1); err != nil {
		return fencedb.Observation{}, refused(err)
	}
	return send(ctx, c.network, Call{Op: OpObserve, Resource: resource}, func() (fencedb.Observation, error) { return c.store.observe(resource) })
}

// Break ends the grant of a resource as an operator does, and returns the token that it drew
// above the grant's. The next grant waits until the holder's time has run out and for the
// lock-delay, unless noDelay. The error matches [fencedb.ErrReleased] if there is nothing to
// break. No fault meets it.
func (c *Coordinator) Break(resource string, noDelay bool) (int64, error) {
	return c.store.end(resource, noDelay)
}

// Advance starts a new incarnation of the namespace, whose tokens are larger than above and
// than all that were granted, as an operator does after a restore. The error says that the
// incarnations are used up.
func (c *Coordinator) Advance(above int64) error { return c.store.advance(above) }

// AdvanceClock moves the store's clock on by d, back if d is negative: a jump.
func (c *Coordinator) AdvanceClock(d time.Duration) {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	c.store.jumped += d
}

// Snapshot keeps the store's state, all but its clock and its history, and returns a function
// that brings it back: a restore from a backup. It may be called more than once.
func (c *Coordinator) Snapshot() (restore func()) {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	counter, leases := s.counter, maps.Clone(s.leases)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.counter, s.leases = counter, maps.Clone(leases)
	}
}

// A PastGrant is one grant that was made.
type PastGrant struct {
	Token fencedb.Token
	Owner string
	At    time.Time // by the store's clock, whole microseconds
}

// History returns all grants in the order in which they were made, also those whose answers
// were lost.
func (c *Coordinator) History() []PastGrant {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	return slices.Clone(c.store.history)
}

// A lease is what the store knows of a resource.
type lease struct {
	protocol.Record
	before fencedb.Predecessor
	usable time.Duration // as its holder says
}

// A store is what the handles have in common.
type store struct {
	namespace string
	clock     func() time.Time
	rate      float64
	raises    bool
	began     time.Time

	mu      sync.Mutex
	jumped  time.Duration
	counter protocol.Allocator
	leases  map[string]lease // by resource
	history []PastGrant
}

// now reads the store's clock. The mutex is held.
func (s *store) now() protocol.StoreTime {
	t := s.clock()
	if s.rate != 1 {
		t = s.began.Add(time.Duration(float64(t.Sub(s.began)) * s.rate))
	}
	return protocol.StoreTimeOf(t.Add(s.jumped))
}

func (s *store) acquire(ctx context.Context, r fencedb.AcquireRequest) (fencedb.Grant, error) {
	// Before the mutex, so that the writers of one resource keep nobody else waiting.
	rows, unlock, err := s.lockGuards(ctx, r)
	if err != nil {
		return fencedb.Grant{}, err
	}
	defer unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	now, l := s.now(), s.leases[r.Resource]
	q := protocol.Request{GrantID: r.GrantID, Owner: r.Owner, TTL: r.TTL, LockDelay: r.LockDelay}
	switch a := l.Acquire(now, q); a {
	case protocol.Yes:
		return s.grant(now, l, q, r, rows)
	case protocol.Repeated:
		g, err := l.grant(r.Resource)
		g.Repeated = true
		return g, err
	case protocol.No:
		return fencedb.Grant{}, &fencedb.HeldError{Resource: r.Resource, Owner: l.Owner, Value: l.Value, End: l.ended(now), FreeIn: l.FreeAt.Sub(now)}
	default:
		return fencedb.Grant{}, fencedb.Refusal(a, r.Resource)
	}
}

// grant makes the grant after l. Rows are the locked guards that are raised with it, nil for
// those that are left to the holder.
func (s *store) grant(now protocol.StoreTime, l lease, q protocol.Request, r fencedb.AcquireRequest, rows []*guardRow) (fencedb.Grant, error) {
	counter, value, err := s.counter.Next("", 0)
	if err != nil {
		return fencedb.Grant{}, refused(err)
	}
	for _, row := range rows {
		if row == nil {
			continue
		}
		if _, c := row.Raise(value, r.GrantID); c != protocol.Current {
			return fencedb.Grant{}, &fencedb.RegressionError{Namespace: s.namespace, Resource: r.Resource, Granted: value, Known: row.Value, Source: "guard"}
		}
	}
	next, end := l.Grant(now, q, value)
	after := lease{Record: next, usable: r.Usable}
	if l.Value != 0 {
		after.before = fencedb.Predecessor{Value: l.Value, GrantID: l.GrantID, Owner: l.Owner, End: string(end), Renewed: l.Renewed.Time(), Ended: l.Expires.Time()}
	}
	g, err := after.grant(r.Resource)
	if err != nil {
		return fencedb.Grant{}, err
	}
	// Nothing fails from here on, so it is one step.
	g.Raised = make([]bool, len(rows))
	for i, row := range rows {
		if row != nil {
			row.Guard, _ = row.Raise(value, r.GrantID)
			g.Raised[i] = true
		}
	}
	s.counter, s.leases[r.Resource] = counter, after
	s.history = append(s.history, PastGrant{Token: g.Token, Owner: r.Owner, At: g.At})
	return g, nil
}

// lockGuards locks the guards that are raised with the grant. Rows[i] is of r.Guards[i], nil
// if it is left to the holder.
func (s *store) lockGuards(ctx context.Context, r fencedb.AcquireRequest) (rows []*guardRow, unlock func(), err error) {
	unlock = func() {
		for _, row := range rows {
			if row != nil {
				row.unlock()
			}
		}
	}
	if !s.raises {
		return nil, unlock, nil
	}
	for i, guard := range r.Guards {
		var row *guardRow
		if g, ok := guard.(*Guard); ok && !slices.Contains(r.Guards[:i], guard) {
			row = g.row(r.Resource)
			if err := row.lock(ctx); err != nil {
				unlock()
				return nil, nil, fmt.Errorf("fencedbtest: waiting for the writers of %s: %w", r.Resource, err)
			}
		}
		rows = append(rows, row)
	}
	return rows, unlock, nil
}

func (s *store) renew(r fencedb.RenewRequest) (fencedb.Renewal, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, l := s.now(), s.leases[r.Token.Resource()]
	next, a := l.Renew(now, r.Token.Grant(), r.Token.Value(), r.TTL)
	if a != protocol.Yes {
		return fencedb.Renewal{}, fencedb.Refusal(a, r.Token.Resource())
	}
	l.Record, l.usable = next, r.Usable
	s.leases[r.Token.Resource()] = l
	return fencedb.Renewal{TTL: next.TTL, At: now.Time(), Count: next.Renewals}, nil
}

func (s *store) release(t fencedb.Token) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.leases[t.Resource()]
	next, a := l.Release(s.now(), t.Grant(), t.Value())
	switch a {
	case protocol.Repeated:
		return nil
	case protocol.Yes:
		l.Record = next
		s.leases[t.Resource()] = l
		return nil
	}
	return fencedb.Refusal(a, t.Resource())
}

func (s *store) end(resource string, noDelay bool) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	counter, value, err := s.counter.Next("", 0)
	if err != nil {
		return 0, refused(err)
	}
	l := s.leases[resource]
	next, a := l.Break(s.now(), value, noDelay)
	switch a {
	case protocol.Yes:
		l.Record, s.counter = next, counter
		s.leases[resource] = l
		return value, nil
	case protocol.Repeated:
		return l.Value, nil
	}
	return 0, fencedb.Refusal(a, resource)
}

func (s *store) advance(above int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	counter, _, err := s.counter.Next("", above)
	if err != nil {
		return refused(err)
	}
	if counter, err = counter.Anew(); err != nil {
		return refused(err)
	}
	s.counter = counter
	return nil
}

func (s *store) observe(resource string) (fencedb.Observation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, l := s.now(), s.leases[resource]
	o := fencedb.Observation{Namespace: s.namespace, Resource: resource, At: now.Time()}
	if l.Value == 0 {
		return o, nil
	}
	g, err := l.grant(resource)
	if err != nil {
		return fencedb.Observation{}, err
	}
	o.Held, o.Token, o.Owner, o.End, o.Predecessor = l.Held(now), g.Token, l.Owner, l.ended(now), l.before
	o.Granted, o.Renewed, o.Expires, o.Free = l.Granted.Time(), l.Renewed.Time(), l.Expires.Time(), l.FreeAt.Time()
	o.Renewals, o.TTL, o.Usable, o.LockDelay = l.Renewals, l.TTL, l.usable, l.LockDelay
	return o, nil
}

// grant returns the lease as its holder is told of it.
func (l lease) grant(resource string) (fencedb.Grant, error) {
	t, err := fencedb.NewToken(resource, l.Value, l.GrantID)
	if err != nil {
		return fencedb.Grant{}, refused(err)
	}
	return fencedb.Grant{Token: t, TTL: l.TTL, At: l.Granted.Time(), Predecessor: l.before}, nil
}

// ended says how the lease has ended, empty if it has not.
func (l lease) ended(now protocol.StoreTime) string {
	if l.End == "" && !l.Held(now) {
		return string(protocol.Expired)
	}
	return string(l.End)
}

func refused(err error) error { return fmt.Errorf("%w: %w", fencedb.ErrRefused, err) }

func about(op Op, t fencedb.Token) Call {
	return Call{Op: op, Resource: t.Resource(), GrantID: t.Grant(), Token: t}
}
