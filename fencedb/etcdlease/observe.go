package etcdlease

import (
	"cmp"
	"context"
	"slices"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/protocol"
)

// Observe implements [fencedb.Coordinator]. Whether the resource is held is etcd's word. At is of
// the caller's clock, and the other times are of the clocks of those who made the grants and
// the renewals: between two processes they differ by as much as the clocks do. A grant that is
// held ends at At at the earliest, and one that has ended did so at At at the latest.
func (c *Coordinator) Observe(ctx context.Context, resource string) (fencedb.Observation, error) {
	if err := checkResource(resource); err != nil {
		return fencedb.Observation{}, err
	}
	if err := leaving(ctx, "an observation of "+resource); err != nil {
		return fencedb.Observation{}, err
	}
	s, err := c.read(ctx, resource, nil)
	if err != nil {
		return fencedb.Observation{}, before("reading "+resource, err)
	}
	return c.observation(resource, s)
}

// List observes all resources of the namespace that were ever granted, at one revision, in the
// order of their names. Times and errors are [Coordinator.Observe]'s.
func (c *Coordinator) List(ctx context.Context) ([]fencedb.Observation, error) {
	if err := leaving(ctx, "a list of "+c.namespace); err != nil {
		return nil, err
	}
	kinds := []string{"last", "lease", "delay"}
	var ops []clientv3.Op
	for _, kind := range kinds {
		ops = append(ops, clientv3.OpGet(c.keys.base+kind+"/", clientv3.WithPrefix()))
	}
	resp, err := readTxn(ctx, c.client, ops)
	if err != nil {
		return nil, before("listing "+c.namespace, err)
	}
	states := make(map[string]state)
	for i, kind := range kinds {
		for _, kv := range every(resp, i) {
			resource, err := c.keys.resource(kv.key, kind)
			if err != nil {
				return nil, refused(err)
			}
			s := states[resource]
			switch kind {
			case "lease":
				s.lease = kv.lease
			case "delay":
				s.delay = kv.lease
			default:
				if s.last, err = decodeRecord(kv.key, kv.value, kv.revision); err != nil {
					return nil, err
				}
				s.lastRev = kv.revision
			}
			states[resource] = s
		}
	}
	var all []fencedb.Observation
	for resource, s := range states {
		o, err := c.observation(resource, s)
		if err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b fencedb.Observation) int { return cmp.Compare(a.Resource, b.Resource) })
	return all, nil
}

// observation says what s means to people.
func (c *Coordinator) observation(resource string, s state) (fencedb.Observation, error) {
	o := fencedb.Observation{Namespace: c.namespace, Resource: resource, At: time.Now()}
	if s.lastRev == 0 {
		return o, nil
	}
	t, err := s.token(resource)
	if err != nil {
		return fencedb.Observation{}, err
	}
	l := s.last
	o.Token, o.Owner, o.End, o.Granted, o.Renewed, o.Renewals = t, l.Owner, string(s.end()), l.Granted, l.Renewed, l.Renewals
	o.TTL, o.Usable, o.LockDelay, o.Predecessor = l.TTL, l.Usable, l.LockDelay, l.Before
	now := protocol.StoreTimeOf(o.At)
	r := s.record(now)
	o.Held = r.Held(now)
	o.Expires, o.Free = earlier(l.Expires, o.At), earlier(l.Free, o.At)
	if o.Held {
		o.Expires = later(l.Expires, o.At)
	}
	if r.FreeAt > now {
		o.Free = later(l.Free, o.At)
	}
	return o, nil
}
