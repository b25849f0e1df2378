package sqllease

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/protocol"
)

// Acquire implements [fencedb.Coordinator]. TTL is from 1µs to 24h, LockDelay from 0 to 24h, both
// in whole microseconds; Owner is up to 255 bytes of UTF-8 without NUL. The [fencedb.TxGuard]s
// among the guards that are in this coordinator's *sql.DB are raised in the grant's
// transaction, after it waited for their writers; that is not done again when a grant is
// Repeated.
//
// A [*fencedb.HeldError] whose End is [fencedb.Quarantined] says that nothing is granted, see
// [Coordinator.Advance]. A [*fencedb.RegressionError] says that the counter is behind a token
// that is known: of a lease ("lease"), of a guard, or one that this Coordinator has seen
// ("client"). Nothing was granted then. A [*SchemaError] says that the tables are missing.
func (c *Coordinator) Acquire(ctx context.Context, r fencedb.AcquireRequest) (fencedb.Grant, error) {
	if err := r.Check(); err != nil {
		return fencedb.Grant{}, err
	}
	r.TTL, r.LockDelay = r.TTL.Truncate(time.Microsecond), r.LockDelay.Truncate(time.Microsecond)
	return inBackground(ctx, c, "acquiring "+r.Resource, func(ctx context.Context, s *session) (fencedb.Grant, error) { return s.acquire(ctx, r) })
}

// checkText refuses what one of the databases cannot keep.
func checkText(what, text string, most int) error {
	switch {
	case len(text) > most:
		return refused("sqllease: the %s has %d bytes, more than %d", what, len(text), most)
	case !utf8.ValidString(text):
		return refused("sqllease: the %s is not UTF-8", what)
	}
	for i := range len(text) {
		if text[i] == 0 {
			return refused("sqllease: the %s holds a NUL", what)
		}
	}
	return nil
}

func (s *session) acquire(ctx context.Context, r fencedb.AcquireRequest) (fencedb.Grant, error) {
	// What was committed before the request has to be below the grant. What others commit
	// meanwhile says nothing: they may have drawn their tokens later.
	known := protocol.Watermark(s.seen.Load())
	// Most requests are of contenders that wait. They are answered without a lock, so that
	// they never keep a renewal waiting.
	l, err := s.observe(ctx, r.Resource)
	if err != nil {
		return fencedb.Grant{}, err
	}
	switch a, err := s.answer(l, r); {
	case err != nil:
		return fencedb.Grant{}, err
	case a == protocol.Repeated:
		return l.repeated(r.Resource)
	}
	var g fencedb.Grant
	s.sent = true
	err = s.inLimits(ctx, s.conn, func(tx *sql.Tx) error {
		var err error
		g, err = s.grant(ctx, tx, r, known, l.exists)
		return err
	})
	if err != nil {
		return fencedb.Grant{}, err
	}
	s.see(g.Token.Value())
	return g, nil
}

// answer answers a request by what is known of the lease: Yes and Repeated without an error.
func (s *session) answer(l lease, r fencedb.AcquireRequest) (protocol.Answer, error) {
	if err := l.mine(r.Resource, s.namespace); err != nil {
		return protocol.No, err
	}
	if err := l.quarantined(r.Resource); err != nil {
		return protocol.NoQuarantined, err
	}
	if l.before.grantID == r.GrantID {
		return protocol.NoSuperseded, fencedb.Refusal(protocol.NoSuperseded, r.Resource)
	}
	switch a := l.Acquire(l.now, request(r)); a {
	case protocol.Yes, protocol.Repeated:
		return a, nil
	case protocol.No:
		return a, &fencedb.HeldError{Resource: r.Resource, Owner: l.Owner, Value: l.Value, End: l.ended(), FreeIn: s.wait(l.FreeAt.Sub(l.now))}
	default:
		return a, fencedb.Refusal(a, r.Resource)
	}
}

// wait is how long something takes at least that ends in d by a clock with steps.
func (s *session) wait(d time.Duration) time.Duration {
	return max(time.Microsecond, d-s.dialect.resolution)
}

func request(r fencedb.AcquireRequest) protocol.Request {
	return protocol.Request{GrantID: r.GrantID, Owner: r.Owner, TTL: r.TTL, LockDelay: r.LockDelay}
}

// repeated is the grant that was made before, for the same request.
func (l lease) repeated(resource string) (fencedb.Grant, error) {
	t, err := fencedb.NewToken(resource, l.Value, l.GrantID)
	if err != nil {
		return fencedb.Grant{}, refused("sqllease: %w", err)
	}
	return fencedb.Grant{Token: t, TTL: l.TTL, Repeated: true, At: l.Granted.Time(), Predecessor: l.predecessor()}, nil
}

// grant makes a grant in tx, if the lease is still free once it is locked.
func (s *session) grant(ctx context.Context, tx *sql.Tx, r fencedb.AcquireRequest, known protocol.Watermark, exists bool) (fencedb.Grant, error) {
	l, err := s.lockLease(ctx, tx, r.Resource, exists)
	if err != nil {
		return fencedb.Grant{}, err
	}
	switch a, err := s.answer(l, r); {
	case err != nil:
		return fencedb.Grant{}, err
	case a == protocol.Repeated:
		return l.repeated(r.Resource)
	}
	guards := s.ours(r.Guards)
	// Before the counter is locked, which would keep all other grants waiting, too.
	for _, g := range guards {
		if g == nil {
			continue
		}
		if err := g.WaitIn(ctx, tx, r.Resource); err != nil {
			return fencedb.Grant{}, err
		}
	}
	if len(guards) > 0 { // the wait may have been long
		now, err := s.time(ctx, tx)
		if err != nil {
			return fencedb.Grant{}, err
		}
		l.now = max(l.now, now)
	}
	n, err := s.lockCounter(ctx, tx, false)
	if err != nil {
		return fencedb.Grant{}, err
	}
	l.quarantine = n.quarantine // which only the lock makes certain
	if err := l.quarantined(r.Resource); err != nil {
		return fencedb.Grant{}, err
	}
	value, err := s.draw(&n, l, r.Resource, known)
	if err != nil {
		return fencedb.Grant{}, err
	}
	q := request(r)
	q.TTL += s.dialect.resolution
	next, end := l.Grant(l.now, q, value)
	next.TTL = r.TTL
	after := lease{Record: next, usable: r.Usable}
	if l.Value != 0 {
		after.before = previous{l.Value, l.GrantID, l.Owner, end, l.Renewed, l.Expires}
	}
	t, err := fencedb.NewToken(r.Resource, value, r.GrantID)
	if err != nil {
		return fencedb.Grant{}, refused("sqllease: %w", err)
	}
	g := fencedb.Grant{Token: t, TTL: r.TTL, At: l.now.Time(), Predecessor: after.predecessor()}
	if g.Transaction, err = s.save(ctx, tx, r.Resource, after, n); err != nil {
		return fencedb.Grant{}, err
	}
	g.Raised, err = s.raise(ctx, tx, guards, t)
	return g, err
}

// ours returns the guards that are raised in the grant's transaction, in the places that they
// have in the request, and nil if there are none.
func (s *session) ours(guards []fencedb.Guard) []fencedb.TxGuard {
	ours := make([]fencedb.TxGuard, len(guards))
	for i, g := range guards {
		if t, ok := g.(fencedb.TxGuard); ok && t.In(s.db) {
			ours[i] = t
		}
	}
	if !slices.ContainsFunc(ours, func(g fencedb.TxGuard) bool { return g != nil }) {
		return nil
	}
	return ours
}

// raise raises the guards.
func (s *session) raise(ctx context.Context, tx *sql.Tx, guards []fencedb.TxGuard, t fencedb.Token) ([]bool, error) {
	if guards == nil {
		return nil, nil
	}
	raised := make([]bool, len(guards))
	for i, g := range guards {
		if g == nil {
			continue
		}
		err := g.RaiseIn(ctx, tx, t)
		var stale *fencedb.StaleError
		var conflict *fencedb.ConflictError
		switch {
		case errors.As(err, &stale):
			return nil, &fencedb.RegressionError{Namespace: s.namespace, Resource: t.Resource(), Granted: t.Value(), Known: stale.Current, Source: "guard"}
		case errors.As(err, &conflict):
			return nil, refused("%w", err)
		case err != nil:
			return nil, err
		}
		raised[i] = true
	}
	return raised, nil
}

// lockLease locks the row of a lease, which it makes if it is not there, and reads it and the
// time after that.
func (s *session) lockLease(ctx context.Context, tx *sql.Tx, resource string, exists bool) (lease, error) {
	for {
		if s.dialect.lockByInsert || !exists {
			if _, err := s.exec(ctx, tx, s.ensure, resource, s.namespace); err != nil {
				return lease{}, fmt.Errorf("locking the lease: %w", err)
			}
		}
		var now int64
		var row scanned
		err := s.row(ctx, tx, s.lock, []any{resource}, append([]any{&now}, row.columns()...)...)
		if err == nil {
			return row.lease(now, sql.NullInt64{}), nil
		}
		if !errors.Is(err, sql.ErrNoRows) || !exists {
			return lease{}, fmt.Errorf("locking the lease: %w", err)
		}
		exists = false // it was cleaned up meanwhile
	}
}

// lockCounter locks the row of the namespace's counter and reads it. It makes the row if
// nothing was granted in the namespace; if something was, somebody has deleted the row, and
// that is repaired only for an operator.
func (s *session) lockCounter(ctx context.Context, tx *sql.Tx, repair bool) (counter, error) {
	args := []any{s.namespace}
	read := func() (n counter, err error) {
		var kept, place, durable sql.NullString
		var quarantine sql.NullInt64
		err = s.row(ctx, tx, s.counter, args, &n.Incarnation, &n.Counter, &kept, &quarantine, &place, &durable)
		n.Place, n.place, n.quarantine = kept.String, place.String, protocol.StoreTime(quarantine.Int64)
		return n, err
	}
	n, err := read()
	if errors.Is(err, sql.ErrNoRows) {
		if _, err := s.exec(ctx, tx, s.begin, s.namespace); err != nil {
			return n, fmt.Errorf("making the counter: %w", err)
		}
		if n, err = read(); err != nil {
			return n, fmt.Errorf("locking the counter: %w", err)
		}
		// With the lock, under which no other grant is made: another may have made the row
		// meanwhile, and drawn from it.
		var largest int64
		if err := s.row(ctx, tx, s.largest, args, &largest); err != nil {
			return n, fmt.Errorf("looking for tokens: %w", err)
		}
		if largest > n.Value() && !repair {
			return n, &fencedb.RegressionError{Namespace: s.namespace, Resource: "any resource", Granted: n.Value(), Known: largest, Source: "lease"}
		}
	}
	if err != nil {
		return n, fmt.Errorf("locking the counter: %w", err)
	}
	return n, nil
}

// draw draws a token that is to be l's next.
func (s *session) draw(n *counter, l lease, resource string, known protocol.Watermark) (int64, error) {
	next, value, err := n.Next(n.place, 0)
	if err != nil {
		return 0, refused("sqllease: namespace %q: %w", s.namespace, err)
	}
	n.Allocator = next
	for _, k := range []struct {
		source string
		value  int64
	}{{"lease", l.Value}, {"client", int64(known)}} {
		if _, regressed := protocol.Watermark(k.value).See(value); regressed {
			return 0, &fencedb.RegressionError{Namespace: s.namespace, Resource: resource, Granted: value, Known: k.value, Source: k.source}
		}
	}
	return value, nil
}

// save writes lease and counter, and returns the transaction's name if it has one.
func (s *session) save(ctx context.Context, tx *sql.Tx, resource string, l lease, n counter) (transaction string, err error) {
	leaseArgs, counterArgs := l.args(resource), n.args(s.namespace)
	switch {
	case s.count != "":
		if _, err = s.exec(ctx, tx, s.count, counterArgs...); err == nil {
			_, err = s.exec(ctx, tx, s.write, leaseArgs...)
		}
	case s.names:
		err = s.row(ctx, tx, s.write, append(leaseArgs, counterArgs...), &transaction)
	default:
		_, err = s.exec(ctx, tx, s.write, append(leaseArgs, counterArgs...)...)
	}
	if err != nil {
		return "", fmt.Errorf("writing the lease: %w", err)
	}
	return transaction, nil
}
