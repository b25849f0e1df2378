package etcdlease

import (
	"context"
	"fmt"
	"strconv"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/protocol"
)

// A state is what one linearizable read has found, at one revision.
type state struct {
	cluster  string
	revision int64

	meta       meta
	metaRev    int64 // 0: the namespace is not there
	quarantine clientv3.LeaseID

	last    record
	lastRev int64            // 0: the resource was never granted
	lease   clientv3.LeaseID // 0: nobody holds the resource
	delay   clientv3.LeaseID // 0: nobody else is kept out

	guards []guardRow // of the guards that were asked for
}

// read reads all that is to be known of a resource.
func (c *Coordinator) read(ctx context.Context, resource string, guards []*Guard) (state, error) {
	ops := []clientv3.Op{
		clientv3.OpGet(c.keys.state()),
		clientv3.OpGet(c.keys.quarantine()),
		clientv3.OpGet(c.keys.last(resource)),
		clientv3.OpGet(c.keys.lease(resource)),
		clientv3.OpGet(c.keys.delay(resource)),
	}
	for _, g := range guards {
		ops = append(ops, clientv3.OpGet(g.key(resource)))
	}
	resp, err := readTxn(ctx, c.client, ops)
	if err != nil {
		return state{}, err
	}
	s := state{cluster: clusterID(resp), revision: resp.Header.Revision}
	if kv := first(resp, 0); kv != nil {
		if s.meta, err = decodeMeta(kv.key, kv.value); err != nil {
			return state{}, err
		}
		s.metaRev = kv.revision
	}
	if kv := first(resp, 2); kv != nil {
		if s.last, err = decodeRecord(kv.key, kv.value, kv.revision); err != nil {
			return state{}, err
		}
		s.lastRev = kv.revision
	}
	for i, id := range map[int]*clientv3.LeaseID{1: &s.quarantine, 3: &s.lease, 4: &s.delay} {
		if kv := first(resp, i); kv != nil {
			*id = kv.lease
		}
	}
	for i, g := range guards {
		row, err := decodeGuard(g.key(resource), first(resp, 5+i))
		if err != nil {
			return state{}, err
		}
		s.guards = append(s.guards, row)
	}
	return s, nil
}

// record returns the resource's record for the decisions of package protocol. Etcd has no
// clock that could be asked: that a key on an etcd lease is there, or is not, is all that it
// says of time. Now is any time; what is not over ends after it.
func (s state) record(now protocol.StoreTime) protocol.Record {
	r := protocol.Record{Value: s.last.value(), GrantID: s.last.GrantID, Owner: s.last.Owner, End: s.last.End,
		TTL: s.last.TTL, LockDelay: s.last.LockDelay, Renewals: s.last.Renewals, Expires: now, FreeAt: now}
	if s.lease != clientv3.NoLease {
		r.Expires = now.Add(time.Second)
	}
	if s.lease != clientv3.NoLease || s.delay != clientv3.NoLease {
		r.FreeAt = now.Add(time.Second)
	}
	return r
}

// end says how the last grant has ended, empty if it has not.
func (s state) end() protocol.End {
	if s.last.End == "" && s.lastRev != 0 && s.lease == clientv3.NoLease {
		return protocol.Expired
	}
	return s.last.End
}

// token returns the last grant's token.
func (s state) token(resource string) (fencedb.Token, error) {
	t, err := fencedb.NewToken(resource, s.last.value(), s.last.GrantID)
	if err != nil {
		return fencedb.Token{}, refused(err)
	}
	return t, nil
}

// A found is a key that is there.
type found struct {
	key      string
	value    []byte
	revision int64 // of its last change
	lease    clientv3.LeaseID
}

// first returns the key that the i-th read of resp has found, nil if it has not.
func first(resp *clientv3.TxnResponse, i int) *found {
	all := every(resp, i)
	if len(all) == 0 {
		return nil
	}
	return &all[0]
}

func every(resp *clientv3.TxnResponse, i int) []found {
	var all []found
	for _, kv := range resp.Responses[i].GetResponseRange().GetKvs() {
		all = append(all, found{string(kv.Key), kv.Value, kv.ModRevision, clientv3.LeaseID(kv.Lease)})
	}
	return all
}

func clusterID(resp *clientv3.TxnResponse) string {
	return strconv.FormatUint(resp.Header.ClusterId, 16)
}

const (
	readAttempts = 20
	readPause    = 50 * time.Millisecond
)

// readTxn reads, and reads again when a member has gone: the client does not repeat a
// transaction by itself, not even one that changes nothing.
func readTxn(ctx context.Context, client *clientv3.Client, ops []clientv3.Op) (*clientv3.TxnResponse, error) {
	for attempt := 1; ; attempt++ {
		resp, err := client.Txn(ctx).Then(ops...).Commit()
		if err == nil || attempt == readAttempts || status.Code(err) != codes.Unavailable {
			return resp, err
		}
		pause := time.NewTimer(readPause)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return nil, fmt.Errorf("%w: %w", ctx.Err(), err)
		}
	}
}
