package etcdlease

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/protocol"
)

// A Guard compares tokens in the etcd cluster, for what is kept there: [Guard.Fenced] runs a
// transaction only while its token is the one that the guard was raised to last. A
// [Coordinator] on the same client raises it in the transaction of the grant.
//
// The key of a resource is prefix/guard/resource, the resource escaped as a segment of a URL's
// path is. It must not be deleted: what it knew would be forgotten. Its value is one of
//
//	value/grant         it was raised to this token
//	@incarnation/grant  it was raised by the grant itself: the counter is the key's ModRevision,
//	                    since a transaction does not know its revision before it is committed
//
// A Guard is immutable; any number of goroutines may use one.
type Guard struct {
	client  *clientv3.Client
	base    string
	observe *fencedb.Observer
}

var _ fencedb.Guard = (*Guard)(nil)

// A GuardOption changes what [NewGuard] makes.
type GuardOption func(*Guard)

// ObservedBy has every decision of the guard told to o.
func ObservedBy(o *fencedb.Observer) GuardOption { return func(g *Guard) { g.observe = o } }

// NewGuard returns the guard whose keys begin with prefix: [DefaultPrefix] if it is the
// default coordinators'. A prefix that is empty or ends in a slash is an error. It does not
// connect to anything.
func NewGuard(client *clientv3.Client, prefix string, opts ...GuardOption) (*Guard, error) {
	if err := checkPrefix(prefix); err != nil {
		return nil, err
	}
	g := &Guard{client: client, base: prefix + "/guard/"}
	for _, o := range opts {
		o(g)
	}
	return g, nil
}

func (g *Guard) key(resource string) string { return g.base + url.PathEscape(resource) }

// same tells whether h compares in the same keys.
func (g *Guard) same(h *Guard) bool { return g.client == h.client && g.base == h.base }

// Raise implements [fencedb.Guard]. A transaction of [Guard.Fenced] comes before the raise or
// after it: none is under way. Errors: a [*fencedb.StaleError] if the guard knows a larger
// token, a [*fencedb.ConflictError] if it knows the same number from another grant,
// [fencedb.ErrInvalidToken] for the zero Token, else etcd's, after which the raise may be
// repeated.
func (g *Guard) Raise(ctx context.Context, t fencedb.Token) error {
	current, err := g.raise(ctx, t)
	g.tell(ctx, "raise", t, current, err)
	return err
}

func (g *Guard) raise(ctx context.Context, t fencedb.Token) (current int64, err error) {
	if t.IsZero() {
		return 0, fmt.Errorf("%w: no guard is raised to the zero token", fencedb.ErrInvalidToken)
	}
	key := g.key(t.Resource())
	for {
		row, err := g.read(ctx, key)
		if err != nil {
			return 0, err
		}
		next, c := row.known.Raise(t.Value(), t.Grant())
		if next == row.known {
			return next.Value, g.decide(t, next.Value, next.GrantID, c)
		}
		resp, err := g.client.Txn(ctx).
			If(clientv3.Compare(clientv3.ModRevision(key), "=", row.revision)).
			Then(clientv3.OpPut(key, raisedGuard(t))).
			Commit()
		if err != nil {
			return 0, fmt.Errorf("etcdlease: raising the guard of %s: %w", t.Resource(), err)
		}
		if resp.Succeeded {
			return next.Value, nil
		}
	}
}

// Fenced runs ops in one transaction if the guard knows t and nothing above it, and returns
// etcd's response to them. Ops must not touch the guard's own key.
//
// Errors: a [*fencedb.StaleError] if the guard knows a larger token, a
// [*fencedb.ConflictError] if it knows the same number from another grant, one that matches
// [fencedb.ErrNotGranted] if it was never raised to t, [fencedb.ErrInvalidToken] for the zero
// Token: ops have done nothing. After any other, which is etcd's, they may have been carried
// out or not; it is safe to do them again with the same token if they may be done twice.
func (g *Guard) Fenced(ctx context.Context, t fencedb.Token, ops ...clientv3.Op) (*clientv3.TxnResponse, error) {
	current, resp, err := g.fenced(ctx, t, ops)
	g.tell(ctx, "fenced", t, current, err)
	return resp, err
}

func (g *Guard) fenced(ctx context.Context, t fencedb.Token, ops []clientv3.Op) (current int64, resp *clientv3.TxnResponse, err error) {
	if t.IsZero() {
		return 0, nil, fmt.Errorf("%w: the zero token is fenced from everything", fencedb.ErrInvalidToken)
	}
	key := g.key(t.Resource())
	// The grant itself has raised the guard, as a rule: then this is one round trip.
	want := guardRow{value: ownGuard(t.Incarnation(), t.Grant()), revision: t.Counter()}
	for {
		resp, err := g.client.Txn(ctx).
			If(clientv3.Compare(clientv3.Value(key), "=", want.value), clientv3.Compare(clientv3.ModRevision(key), "=", want.revision)).
			Then(ops...).
			Else(clientv3.OpGet(key)).
			Commit()
		if err != nil {
			return 0, nil, fmt.Errorf("etcdlease: a fenced transaction of %s: %w", t.Resource(), err)
		}
		if resp.Succeeded {
			return t.Value(), resp, nil
		}
		if want, err = decodeGuard(key, first(resp, 0)); err != nil {
			return 0, nil, err
		}
		if err := g.decide(t, want.known.Value, want.known.GrantID, want.known.Compare(t.Value(), t.Grant())); err != nil {
			return want.known.Value, nil, err
		}
	}
}

func (g *Guard) read(ctx context.Context, key string) (guardRow, error) {
	resp, err := readTxn(ctx, g.client, []clientv3.Op{clientv3.OpGet(key)})
	if err != nil {
		return guardRow{}, fmt.Errorf("etcdlease: reading the guard %s: %w", key, err)
	}
	return decodeGuard(key, first(resp, 0))
}

// decide returns the error that a comparison of t with a guard is.
func (g *Guard) decide(t fencedb.Token, value int64, grant string, c protocol.Comparison) error {
	switch c {
	case protocol.Stale:
		return &fencedb.StaleError{Resource: t.Resource(), Table: g.name(), Presented: t.Value(), Current: value}
	case protocol.NotGranted:
		return fmt.Errorf("%w: the guard of %s knows %d and not yet %d: raise it first", fencedb.ErrNotGranted, t.Resource(), value, t.Value())
	case protocol.Conflict:
		return &fencedb.ConflictError{Resource: t.Resource(), Table: g.name(), Value: t.Value(), Presented: t.Grant(), Current: grant}
	}
	return nil
}

// name is what stands for a table in receipts.
func (g *Guard) name() string { return strings.TrimSuffix(g.base, "/") }

func (g *Guard) tell(ctx context.Context, operation string, t fencedb.Token, current int64, err error) {
	g.observe.Decide(ctx, fencedb.Decision{Operation: operation, Table: g.name(), Resource: t.Resource(),
		Presented: t.Value(), Grant: t.Grant(), Current: current, Result: fencedb.ResultOf(err)})
}

// A guardRow is a guard's key. The zero guardRow is of a guard that was never raised.
type guardRow struct {
	known    protocol.Guard
	value    string
	revision int64
}

func ownGuard(incarnation int, grant string) string { return fmt.Sprintf("@%d/%s", incarnation, grant) }

func raisedGuard(t fencedb.Token) string { return fmt.Sprintf("%d/%s", t.Value(), t.Grant()) }

// decodeGuard reads a guard's key, nil if it is not there.
func decodeGuard(key string, kv *found) (guardRow, error) {
	if kv == nil {
		return guardRow{}, nil
	}
	row := guardRow{value: string(kv.value), revision: kv.revision}
	value, grant, err := row.read()
	if err != nil {
		return guardRow{}, fmt.Errorf("%w: guard %s has the value %q, which names no token (%w): put value/grant of the last grant there", fencedb.ErrRefused, key, row.value, err)
	}
	row.known = protocol.Guard{Value: value, GrantID: grant}
	return row, nil
}

// read reads a guard's value, in either form.
func (row guardRow) read() (value int64, grant string, err error) {
	number, grant, ok := strings.Cut(row.value, "/")
	if !ok {
		return 0, "", fmt.Errorf("it has no slash")
	}
	if incarnation, own := strings.CutPrefix(number, "@"); own {
		i, err := strconv.Atoi(incarnation)
		if err != nil {
			return 0, "", err
		}
		value, err = fencedb.MakeValue(i, row.revision)
		return value, grant, err
	}
	if value, err = strconv.ParseInt(number, 10, 64); err == nil && value <= 0 {
		err = fmt.Errorf("%d is not positive", value)
	}
	return value, grant, err
}
