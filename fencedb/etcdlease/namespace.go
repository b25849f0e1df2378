package etcdlease

import (
	"context"
	"errors"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/protocol"
)

// settled tells whether the namespace is there and in the cluster that it was in.
func (s state) settled() bool { return s.metaRev != 0 && s.meta.Cluster == s.cluster }

// settle makes the namespace, or has it begin a new incarnation in another cluster than the
// one that it was in. It returns errRaced when that is done, by whomever.
func (c *Coordinator) settle(ctx context.Context, s state) error {
	m, err := c.anew(ctx, s)
	if err != nil {
		return err
	}
	// Whoever was granted something after the snapshot is not known any more.
	err = c.putMeta(ctx, s.metaRev, m, time.Duration(m.Longest)*time.Second)
	if err != nil && !errors.Is(err, errRaced) {
		return before("settling "+c.namespace, err)
	}
	return errRaced
}

// anew returns what the namespace is in the cluster that s was read from.
func (c *Coordinator) anew(ctx context.Context, s state) (meta, error) {
	m := meta{Format: format, Cluster: s.cluster, Incarnation: s.meta.Incarnation, Longest: s.meta.Longest}
	if s.metaRev == 0 {
		left, err := c.remains(ctx)
		if err != nil || len(left) == 0 {
			return m, err
		}
		// The namespace's key was deleted and the records were not, or another process has
		// just made it, and then the transaction that would write it again does nothing.
		for _, r := range left {
			m.Incarnation = max(m.Incarnation, r.Incarnation)
			m.Longest = max(m.Longest, r.Leased+seconds(r.LockDelay))
		}
	}
	a, err := protocol.Allocator{Incarnation: m.Incarnation}.Anew()
	if err != nil {
		return meta{}, refused(err)
	}
	m.Incarnation = a.Incarnation
	return m, nil
}

// remains reads all records of the namespace.
func (c *Coordinator) remains(ctx context.Context) ([]record, error) {
	resp, err := readTxn(ctx, c.client, []clientv3.Op{clientv3.OpGet(c.keys.base+"last/", clientv3.WithPrefix())})
	if err != nil {
		return nil, before("reading the records of "+c.namespace, err)
	}
	var all []record
	for _, kv := range every(resp, 0) {
		r, err := decodeRecord(kv.key, kv.value, kv.revision)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// putMeta writes what the namespace knows of itself, if nobody has since revision, and has
// nothing granted for a time. It is no error if somebody has: the caller reads again.
func (c *Coordinator) putMeta(ctx context.Context, revision int64, m meta, quarantine time.Duration) error {
	value, err := encode(m)
	if err != nil {
		return err
	}
	thens := []clientv3.Op{clientv3.OpPut(c.keys.state(), value)}
	var lease clientv3.LeaseID
	if quarantine > 0 {
		l, err := c.client.Grant(ctx, seconds(quarantine))
		if err != nil {
			return before("asking for an etcd lease", err)
		}
		lease = l.ID
		thens = append(thens, clientv3.OpPut(c.keys.quarantine(), m.Cluster, clientv3.WithLease(lease)))
	}
	resp, err := c.client.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(c.keys.state()), "=", revision)).Then(thens...).Commit()
	if err != nil {
		return decisive("the new state of "+c.namespace, err)
	}
	if !resp.Succeeded {
		c.revoke(ctx, lease)
		return errRaced
	}
	return nil
}

// Advance starts a new incarnation of the namespace, for an operator who has restored the
// cluster, or who was told of a regression: tokens that are granted from now on are larger than
// above, which may be 0, and than every one granted before, as far as the cluster knows. It
// returns the incarnation. Nothing is granted for the time of quarantine, which has to be the
// longest TTL and lock-delay together that a lost grant may have had, or 0 if there are none.
//
// Errors: one that matches [fencedb.ErrRefused] if above or quarantine is out of range or the
// incarnations are used up, else etcd's, after which it may be repeated: at worst, an
// incarnation is skipped.
func (c *Coordinator) Advance(ctx context.Context, above int64, quarantine time.Duration) (incarnation int, err error) {
	if above < 0 || quarantine < 0 || quarantine > 2*protocol.MaxTTL {
		return 0, fmt.Errorf("%w: above is %d and the quarantine %v; they have to be 0 or more, and the latter at most %v", fencedb.ErrRefused, above, quarantine, 2*protocol.MaxTTL)
	}
	return again(ctx, "an advance of "+c.namespace, func() (int, error) { return c.advance(ctx, above, quarantine) })
}

func (c *Coordinator) advance(ctx context.Context, above int64, quarantine time.Duration) (int, error) {
	resp, err := readTxn(ctx, c.client, []clientv3.Op{clientv3.OpGet(c.keys.state())})
	if err != nil {
		return 0, before("reading the state of "+c.namespace, err)
	}
	s := state{cluster: clusterID(resp), revision: resp.Header.Revision}
	if kv := first(resp, 0); kv != nil {
		if s.meta, err = decodeMeta(kv.key, kv.value); err != nil {
			return 0, err
		}
		s.metaRev = kv.revision
	}
	m, err := c.anew(ctx, s)
	if err != nil {
		return 0, err
	}
	if floor := int(above >> counterBits); above > 0 && m.Incarnation <= floor {
		a, err := protocol.Allocator{Incarnation: floor}.Anew()
		if err != nil {
			return 0, refused(err)
		}
		m.Incarnation = a.Incarnation
	}
	if err := c.putMeta(ctx, s.metaRev, m, quarantine); err != nil {
		return 0, err
	}
	return m.Incarnation, nil
}

// A BreakRequest asks to end a grant that its holder does not end.
type BreakRequest struct {
	Resource string
	Reason   string // for the audit key; not empty
	Actor    string // who asks for it, for the audit key; not empty

	// NoDelay frees the resource at once. Its holder cannot be told, so it goes on until its
	// time has run out: only a guard stops it before.
	NoDelay bool
}

// Break ends a grant and returns the value of the token that the break itself draws, which is
// above the grant's, so that guards can be raised to it. The holder's next renewal fails. The
// next grant waits until the holder's time has run out and for the lock-delay, unless NoDelay.
// A break of what is broken already returns the same value and changes nothing, unless it
// adds NoDelay. An audit key says who broke what, why, and when.
//
// Errors: [fencedb.ErrReleased] if there is nothing to break, [fencedb.ErrRefused] for a
// request without a reason or an actor, [fencedb.ErrNotSent], else the outcome is not known and
// the break may be repeated.
func (c *Coordinator) Break(ctx context.Context, r BreakRequest) (int64, error) {
	if err := checkResource(r.Resource); err != nil {
		return 0, err
	}
	if r.Reason == "" || r.Actor == "" {
		return 0, fmt.Errorf("%w: a break of %s needs a reason and an actor, for the audit", fencedb.ErrRefused, r.Resource)
	}
	return again(ctx, "a break of "+r.Resource, func() (int64, error) { return c.end(ctx, r) })
}

func (c *Coordinator) end(ctx context.Context, r BreakRequest) (int64, error) {
	known := c.watermark()
	s, err := c.read(ctx, r.Resource, nil)
	if err != nil {
		return 0, before("reading "+r.Resource, err)
	}
	if !s.settled() {
		return 0, c.settle(ctx, s)
	}
	now := time.Now()
	_, a := s.record(protocol.StoreTimeOf(now)).Break(protocol.StoreTimeOf(now), 0, r.NoDelay)
	switch a {
	case protocol.Repeated:
		return s.last.value(), nil
	case protocol.Yes:
	default:
		return 0, fencedb.Refusal(a, r.Resource)
	}
	if err := c.regressed(s, r.Resource, known); err != nil {
		return 0, err
	}
	next := s.last
	next.End, next.Incarnation, next.Counter = protocol.Broken, s.meta.Incarnation, 0
	next.Expires = earlier(next.Expires, now)
	if r.NoDelay {
		next.Free = now
	}
	thens, err := c.breaking(s, r, next, now)
	if err != nil {
		return 0, err
	}
	resp, err := c.client.Txn(ctx).
		If(clientv3.Compare(clientv3.ModRevision(c.keys.state()), "=", s.metaRev),
			clientv3.Compare(clientv3.ModRevision(c.keys.last(r.Resource)), "=", s.lastRev)).
		Then(thens...).
		Commit()
	if err != nil {
		return 0, decisive("the break of "+r.Resource, err)
	}
	if !resp.Succeeded {
		return 0, errRaced
	}
	if r.NoDelay {
		c.revoke(ctx, s.lease, s.delay)
	}
	value, err := fencedb.MakeValue(next.Incarnation, resp.Header.Revision)
	if err != nil {
		return 0, refused(err)
	}
	c.see(value)
	return value, nil
}

// breaking returns what a break changes.
func (c *Coordinator) breaking(s state, r BreakRequest, next record, now time.Time) ([]clientv3.Op, error) {
	value, err := encode(next)
	if err != nil {
		return nil, err
	}
	log, err := encode(audit{Resource: r.Resource, Value: s.last.value(), GrantID: s.last.GrantID, Owner: s.last.Owner,
		Actor: r.Actor, Reason: r.Reason, NoDelay: r.NoDelay, At: now})
	if err != nil {
		return nil, err
	}
	ops := []clientv3.Op{
		clientv3.OpPut(c.keys.last(r.Resource), value),
		clientv3.OpDelete(c.keys.lease(r.Resource)),
		clientv3.OpPut(c.keys.audit(r.Resource, s.last.value()), log),
	}
	switch {
	case r.NoDelay:
		ops = append(ops, clientv3.OpDelete(c.keys.delay(r.Resource)))
	case s.delay == clientv3.NoLease && s.lease != clientv3.NoLease:
		// The etcd lease of the grant is over when the holder's time is, as nobody keeps it
		// alive: until then it keeps others out.
		ops = append(ops, clientv3.OpPut(c.keys.delay(r.Resource), s.last.GrantID, clientv3.WithLease(s.lease)))
	}
	return ops, nil
}
