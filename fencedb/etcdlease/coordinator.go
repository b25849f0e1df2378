package etcdlease

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/protocol"
)

// A Coordinator grants the leases of one namespace on an etcd cluster. It starts no goroutine
// and need not be closed; the client is the caller's. Any number of goroutines may use one.
//
// Every time that it returns (At, Granted, Renewed, Ended) is of the clock of the process that
// made the grant or the renewal, or that observes: etcd has none. They are for people, and
// nothing is decided by them.
type Coordinator struct {
	client    *clientv3.Client
	namespace string
	keys      keys

	mu    sync.Mutex
	known protocol.Watermark
}

var _ fencedb.Coordinator = (*Coordinator)(nil)

// An Option changes what [New] makes.
type Option func(*options)

type options struct{ namespace, prefix string }

// Namespace names the resources that share one incarnation, one list and one quarantine:
// "default" without it. The name has the grammar of resources, see [fencedb.Token].
func Namespace(name string) Option { return func(o *options) { o.namespace = name } }

// InPrefix begins the names of all keys: [DefaultPrefix] without it. It must neither be empty
// nor end in a slash.
func InPrefix(prefix string) Option { return func(o *options) { o.prefix = prefix } }

// New returns a coordinator in the cluster of client. It does not connect. A namespace outside
// its grammar, and a prefix that cannot be one, are errors that match [fencedb.ErrRefused].
//
// A user of etcd with authentication needs to read and write all keys below
// prefix/namespace/, and those of the guards.
func New(client *clientv3.Client, opts ...Option) (*Coordinator, error) {
	o := options{namespace: "default", prefix: DefaultPrefix}
	for _, opt := range opts {
		opt(&o)
	}
	if client == nil {
		return nil, fmt.Errorf("%w: etcdlease: there is no client", fencedb.ErrRefused)
	}
	if err := checkPrefix(o.prefix); err != nil {
		return nil, err
	}
	if err := checkResource(o.namespace); err != nil {
		return nil, fmt.Errorf("etcdlease: namespace %q: %w", o.namespace, err)
	}
	return &Coordinator{client: client, namespace: o.namespace, keys: newKeys(o.prefix, o.namespace)}, nil
}

// Namespace implements [fencedb.Coordinator].
func (c *Coordinator) Namespace() string { return c.namespace }

// Acquire implements [fencedb.Coordinator]. The guards of the request that are a [*Guard] of
// the coordinator's client are raised in the transaction of the grant. [fencedb.Grant].TTL is
// what was asked for, although etcd waits for the next whole second, and for its own minimum.
//
// A grant takes a read, an etcd lease (two with a lock-delay) and a transaction, each a round
// trip. An error before the last matches [fencedb.ErrNotSent].
func (c *Coordinator) Acquire(ctx context.Context, r fencedb.AcquireRequest) (fencedb.Grant, error) {
	if err := r.Check(); err != nil {
		return fencedb.Grant{}, err
	}
	return again(ctx, "a grant of "+r.Resource, func() (fencedb.Grant, error) { return c.acquire(ctx, r) })
}

func (c *Coordinator) acquire(ctx context.Context, r fencedb.AcquireRequest) (fencedb.Grant, error) {
	known, guards := c.watermark(), c.own(r.Guards)
	s, err := c.read(ctx, r.Resource, guards)
	if err != nil {
		return fencedb.Grant{}, before("reading "+r.Resource, err)
	}
	if !s.settled() {
		return fencedb.Grant{}, c.settle(ctx, s)
	}
	now := time.Now()
	q := protocol.Request{GrantID: r.GrantID, Owner: r.Owner, TTL: r.TTL, LockDelay: r.LockDelay}
	standing := s.record(protocol.StoreTimeOf(now))
	switch a := standing.Acquire(protocol.StoreTimeOf(now), q); {
	case a == protocol.Repeated:
		t, err := s.token(r.Resource)
		if err != nil {
			return fencedb.Grant{}, err
		}
		c.see(t.Value())
		return fencedb.Grant{Token: t, TTL: s.last.TTL, Repeated: true, Raised: s.raised(r, guards, t), At: s.last.Granted, Predecessor: s.last.Before}, nil
	case a != protocol.Yes && a != protocol.No:
		return fencedb.Grant{}, fencedb.Refusal(a, r.Resource)
	case s.lastRev != 0 && s.last.Before.GrantID == r.GrantID:
		return fencedb.Grant{}, fencedb.Refusal(protocol.NoSuperseded, r.Resource)
	case a == protocol.No:
		c.see(standing.Value)
		return fencedb.Grant{}, &fencedb.HeldError{Resource: r.Resource, Owner: standing.Owner, Value: standing.Value,
			End: string(s.end()), FreeIn: min(c.freeIn(ctx, s.lease, s.delay), s.last.TTL+s.last.LockDelay)}
	case s.quarantine != clientv3.NoLease:
		return fencedb.Grant{}, &fencedb.HeldError{Resource: r.Resource, Owner: standing.Owner, Value: standing.Value,
			End: fencedb.Quarantined, FreeIn: c.freeIn(ctx, s.quarantine)}
	}
	if err := c.regressed(s, r.Resource, known); err != nil {
		return fencedb.Grant{}, err
	}
	return c.grant(ctx, r, q, s, standing, guards, now)
}

// grant makes the grant of r after what s has found.
func (c *Coordinator) grant(ctx context.Context, r fencedb.AcquireRequest, q protocol.Request, s state, standing protocol.Record, guards []*Guard, now time.Time) (fencedb.Grant, error) {
	_, end := standing.Grant(protocol.StoreTimeOf(now), q, 0)
	next := record{GrantID: r.GrantID, Owner: r.Owner, Incarnation: s.meta.Incarnation, Granted: now, Renewed: now, Expires: now.Add(r.TTL), Free: now.Add(r.TTL + r.LockDelay),
		TTL: r.TTL, Usable: r.Usable, LockDelay: r.LockDelay, Leased: seconds(r.TTL), Before: s.last.predecessor(end)}
	l, err := c.lend(ctx, next)
	if err != nil {
		return fencedb.Grant{}, err
	}
	next.TTL = min(next.TTL, l.ttl)
	ifs, thens, err := c.put(r.Resource, s, next, l)
	if err != nil {
		return fencedb.Grant{}, err
	}
	ifs = append(ifs,
		clientv3.Compare(clientv3.CreateRevision(c.keys.lease(r.Resource)), "=", 0),
		clientv3.Compare(clientv3.CreateRevision(c.keys.delay(r.Resource)), "=", 0))
	for i, g := range guards {
		key := g.key(r.Resource)
		ifs = append(ifs, clientv3.Compare(clientv3.ModRevision(key), "=", s.guards[i].revision))
		thens = append(thens, clientv3.OpPut(key, ownGuard(s.meta.Incarnation, r.GrantID)))
	}
	known := c.watermark()
	resp, err := c.client.Txn(ctx).If(ifs...).Then(thens...).Commit()
	if err != nil {
		return fencedb.Grant{}, decisive("the grant of "+r.Resource, err)
	}
	if !resp.Succeeded {
		c.revoke(ctx, l.lease, l.delay)
		return fencedb.Grant{}, errRaced
	}
	value, err := fencedb.MakeValue(s.meta.Incarnation, resp.Header.Revision)
	if err != nil {
		return fencedb.Grant{}, refused(err)
	}
	t, err := fencedb.NewToken(r.Resource, value, r.GrantID)
	if err != nil {
		return fencedb.Grant{}, refused(err)
	}
	// The cluster may have been restored since the read. The grant is left to expire.
	if _, regressed := known.See(value); regressed {
		return fencedb.Grant{}, c.regression(r.Resource, value, int64(known), "client")
	}
	c.see(value)
	g := fencedb.Grant{Token: t, TTL: next.TTL, At: now, Transaction: fmt.Sprintf("revision %d", resp.Header.Revision), Predecessor: next.Before}
	for _, guard := range r.Guards {
		own, ok := guard.(*Guard)
		g.Raised = append(g.Raised, ok && slices.ContainsFunc(guards, own.same))
	}
	return g, nil
}

// Renew implements [fencedb.Coordinator]. [fencedb.Renewal].TTL is what was asked for. It takes
// a read, an etcd lease (two with a lock-delay) and a transaction, each a round trip, and then
// revokes the etcd lease that is replaced.
func (c *Coordinator) Renew(ctx context.Context, r fencedb.RenewRequest) (fencedb.Renewal, error) {
	if err := r.Check(); err != nil {
		return fencedb.Renewal{}, err
	}
	return again(ctx, "a renewal of "+r.Token.Resource(), func() (fencedb.Renewal, error) { return c.renew(ctx, r) })
}

func (c *Coordinator) renew(ctx context.Context, r fencedb.RenewRequest) (fencedb.Renewal, error) {
	resource := r.Token.Resource()
	s, err := c.read(ctx, resource, nil)
	if err != nil {
		return fencedb.Renewal{}, before("reading "+resource, err)
	}
	if !s.settled() {
		return fencedb.Renewal{}, c.settle(ctx, s)
	}
	now := time.Now()
	renewed, a := s.record(protocol.StoreTimeOf(now)).Renew(protocol.StoreTimeOf(now), r.Token.Grant(), r.Token.Value(), r.TTL)
	if a != protocol.Yes {
		return fencedb.Renewal{}, fencedb.Refusal(a, resource)
	}
	next := s.last
	next.Renewed, next.Renewals, next.TTL, next.Usable = now, renewed.Renewals, r.TTL, r.Usable
	next.Expires = later(now.Add(r.TTL), s.last.Expires)
	next.Free = next.Expires.Add(next.LockDelay)
	next.Leased = seconds(r.TTL)
	if next.Leased < s.last.Leased {
		// Never shorter: an answer to an earlier renewal may still count on what it was told.
		left, err := c.left(ctx, s.lease)
		if err != nil {
			return fencedb.Renewal{}, before("asking what is left of "+resource, err)
		}
		next.Leased = max(next.Leased, min(left+1, s.last.Leased))
	}
	l, err := c.lend(ctx, next)
	if err != nil {
		return fencedb.Renewal{}, err
	}
	next.TTL = min(next.TTL, l.ttl)
	ifs, thens, err := c.put(resource, s, next, l)
	if err != nil {
		return fencedb.Renewal{}, err
	}
	ifs = append(ifs, clientv3.Compare(clientv3.CreateRevision(c.keys.lease(resource)), ">", 0))
	resp, err := c.client.Txn(ctx).If(ifs...).Then(thens...).Commit()
	if err != nil {
		return fencedb.Renewal{}, decisive("the renewal of "+resource, err)
	}
	if !resp.Succeeded {
		c.revoke(ctx, l.lease, l.delay)
		return fencedb.Renewal{}, errRaced
	}
	c.revoke(ctx, s.lease, s.delay)
	return fencedb.Renewal{TTL: next.TTL, At: now, Count: next.Renewals}, nil
}

// Release implements [fencedb.Coordinator]. It takes a read and a transaction, and then revokes
// the grant's etcd leases.
func (c *Coordinator) Release(ctx context.Context, t fencedb.Token) error {
	if err := fencedb.CheckGranted(t); err != nil {
		return err
	}
	_, err := again(ctx, "a release of "+t.Resource(), func() (struct{}, error) { return struct{}{}, c.release(ctx, t) })
	return err
}

func (c *Coordinator) release(ctx context.Context, t fencedb.Token) error {
	resource := t.Resource()
	s, err := c.read(ctx, resource, nil)
	if err != nil {
		return before("reading "+resource, err)
	}
	now := time.Now()
	_, a := s.record(protocol.StoreTimeOf(now)).Release(protocol.StoreTimeOf(now), t.Grant(), t.Value())
	switch a {
	case protocol.Repeated:
		return nil
	case protocol.Yes:
	default:
		return fencedb.Refusal(a, resource)
	}
	next := s.last
	next.End, next.Expires, next.Free = protocol.Released, earlier(next.Expires, now), now
	value, err := encode(next)
	if err != nil {
		return err
	}
	resp, err := c.client.Txn(ctx).
		If(clientv3.Compare(clientv3.ModRevision(c.keys.last(resource)), "=", s.lastRev)).
		Then(clientv3.OpPut(c.keys.last(resource), value), clientv3.OpDelete(c.keys.lease(resource)), clientv3.OpDelete(c.keys.delay(resource))).
		Commit()
	if err != nil {
		return decisive("the release of "+resource, err)
	}
	if !resp.Succeeded {
		return errRaced
	}
	c.revoke(ctx, s.lease, s.delay)
	return nil
}

// put returns the part that grants and renewals have in common: the record, the two keys on
// their new etcd leases, and that nothing has changed since s was read.
func (c *Coordinator) put(resource string, s state, next record, l loan) (ifs []clientv3.Cmp, thens []clientv3.Op, err error) {
	value, err := encode(next)
	if err != nil {
		return nil, nil, err
	}
	ifs = []clientv3.Cmp{
		clientv3.Compare(clientv3.ModRevision(c.keys.state()), "=", s.metaRev),
		clientv3.Compare(clientv3.ModRevision(c.keys.last(resource)), "=", s.lastRev),
	}
	thens = []clientv3.Op{
		clientv3.OpPut(c.keys.last(resource), value),
		clientv3.OpPut(c.keys.lease(resource), next.GrantID, clientv3.WithLease(l.lease)),
	}
	if l.delay != clientv3.NoLease {
		thens = append(thens, clientv3.OpPut(c.keys.delay(resource), next.GrantID, clientv3.WithLease(l.delay)))
	}
	// How long nobody may be granted anything after a restore is known before anybody counts on it.
	if l.longest > s.meta.Longest {
		m := s.meta
		m.Longest = l.longest
		value, err := encode(m)
		if err != nil {
			return nil, nil, err
		}
		thens = append(thens, clientv3.OpPut(c.keys.state(), value))
	}
	return ifs, thens, nil
}

// A loan is the etcd leases of one grant or renewal.
type loan struct {
	lease, delay clientv3.LeaseID
	ttl          time.Duration // what etcd granted for the lease key
	longest      int64         // seconds until the last of the two is over
}

// lend has etcd make the leases for a record. Each lasts from when the request was carried
// out, which is later than when the holder began to count. What becomes of no use is revoked,
// or is over after its time if that fails.
func (c *Coordinator) lend(ctx context.Context, r record) (loan, error) {
	held, err := c.client.Grant(ctx, r.Leased)
	if err != nil {
		return loan{}, before("asking for an etcd lease", err)
	}
	l := loan{lease: held.ID, ttl: time.Duration(held.TTL) * time.Second, longest: r.Leased}
	if r.LockDelay == 0 {
		return l, nil
	}
	l.longest += seconds(r.LockDelay)
	delay, err := c.client.Grant(ctx, l.longest)
	if err != nil {
		c.revoke(ctx, l.lease)
		return loan{}, before("asking for an etcd lease", err)
	}
	l.delay = delay.ID
	return l, nil
}

// revokeWithin bounds what revoking may add to an answer that is already certain.
const revokeWithin = time.Second

// revoke ends etcd leases that no key is on any more. That is a courtesy to the cluster: one
// that could not be revoked is over when its time is, so its error is of no consequence.
func (c *Coordinator) revoke(ctx context.Context, ids ...clientv3.LeaseID) {
	ctx, cancel := context.WithTimeout(ctx, revokeWithin)
	defer cancel()
	for _, id := range ids {
		if id != clientv3.NoLease {
			_, _ = c.client.Revoke(ctx, id)
		}
	}
}

// left returns the whole seconds that are left of an etcd lease, 0 if it is over.
func (c *Coordinator) left(ctx context.Context, id clientv3.LeaseID) (int64, error) {
	resp, err := c.client.TimeToLive(ctx, id)
	if err != nil {
		return 0, err
	}
	return max(0, resp.TTL), nil
}

// halfTick is the middle of what etcd leaves open: it tells whole seconds, rounded down, and
// looks for leases that are over twice a second.
const halfTick = 500 * time.Millisecond

// freeIn estimates when the last of some etcd leases is over. If etcd does not tell, it is a
// moment at which to ask again.
func (c *Coordinator) freeIn(ctx context.Context, ids ...clientv3.LeaseID) time.Duration {
	var longest int64
	for _, id := range ids {
		if id == clientv3.NoLease {
			continue
		}
		if left, err := c.left(ctx, id); err == nil {
			longest = max(longest, left)
		}
	}
	return time.Duration(longest)*time.Second + halfTick
}

// own returns the guards that are raised in the grant's transaction, each once.
func (c *Coordinator) own(guards []fencedb.Guard) []*Guard {
	var own []*Guard
	for _, guard := range guards {
		g, ok := guard.(*Guard)
		if ok && g.client == c.client && len(own) < maxGuards && !slices.ContainsFunc(own, g.same) {
			own = append(own, g)
		}
	}
	return own
}

// maxGuards keeps a transaction below etcd's default limit of 128 operations. What is over is
// left to the holder.
const maxGuards = 100

// raised tells which of the request's guards know t already.
func (s state) raised(r fencedb.AcquireRequest, guards []*Guard, t fencedb.Token) []bool {
	raised := make([]bool, len(r.Guards))
	for i, guard := range r.Guards {
		g, ok := guard.(*Guard)
		if !ok {
			continue
		}
		if at := slices.IndexFunc(guards, g.same); at >= 0 {
			raised[i] = s.guards[at].known.Compare(t.Value(), t.Grant()) == protocol.Current
		}
	}
	return raised
}

// regressed returns an error if a grant's token would not be above all that is known.
func (c *Coordinator) regressed(s state, resource string, known protocol.Watermark) error {
	next, err := fencedb.MakeValue(s.meta.Incarnation, s.revision+1)
	if err != nil {
		return refused(err)
	}
	// The read was linearizable, so every grant that was known before it is at or below its
	// revision, unless the cluster has forgotten some.
	if _, regressed := known.See(next); regressed {
		return c.regression(resource, next, int64(known), "client")
	}
	if next <= s.last.value() {
		return c.regression(resource, next, s.last.value(), "witness")
	}
	for _, row := range s.guards {
		if next <= row.known.Value {
			return c.regression(resource, next, row.known.Value, "guard")
		}
	}
	return nil
}

func (c *Coordinator) regression(resource string, granted, known int64, source string) error {
	return &fencedb.RegressionError{Namespace: c.namespace, Resource: resource, Granted: granted, Known: known, Source: source}
}

func (c *Coordinator) watermark() protocol.Watermark {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known
}

// see takes a token in. Answers may arrive in another order than that of the grants, so one
// below the mark is no regression here: what counts is the mark from before a request.
func (c *Coordinator) see(value int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known, _ = c.known.See(value)
}

// again has do decide until nothing came between what it read and what it wrote.
func again[T any](ctx context.Context, what string, do func() (T, error)) (T, error) {
	for {
		if err := leaving(ctx, what); err != nil {
			var none T
			return none, err
		}
		v, err := do()
		if !errors.Is(err, errRaced) {
			return v, err
		}
	}
}

// earlier returns the earlier of two times that are for people: nothing is decided by them.
func earlier(a, b time.Time) time.Time {
	//lint:ignore wallclockexpiry only shown: etcd's leases say what is over
	if a.Before(b) {
		return a
	}
	return b
}

// later returns the later one.
func later(a, b time.Time) time.Time {
	if earlier(a, b).Equal(a) {
		return b
	}
	return a
}

// seconds rounds up to what etcd counts in.
func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }
