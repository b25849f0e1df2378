package sqllease

import (
	"database/sql"
	"time"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/protocol"
)

// A lease is what the database knows of a resource, and of its namespace, at one moment.
type lease struct {
	now        protocol.StoreTime
	quarantine protocol.StoreTime // until when nothing is granted
	exists     bool               // there is a row
	namespace  string             // of the row
	protocol.Record
	usable time.Duration
	before previous
}

// previous is the grant before.
type previous struct {
	value          int64
	grantID, owner string
	end            protocol.End
	renewed, ended protocol.StoreTime
}

// scanned is where the columns of [dialect.read] go.
type scanned struct {
	namespace                                                   sql.NullString
	token, lockDelay, ttl, usable, renewals, prevToken          sql.NullInt64
	grantID, owner, ended, prevGrant, prevOwner, prevEnd        sql.NullString
	granted, renewed, expires, freeAt, prevRenewed, prevEndedAt sql.NullInt64
}

func (s *scanned) columns() []any {
	return []any{&s.namespace, &s.token, &s.grantID, &s.owner, &s.ended, &s.granted, &s.renewed, &s.expires, &s.freeAt,
		&s.lockDelay, &s.ttl, &s.usable, &s.renewals, &s.prevToken, &s.prevGrant, &s.prevOwner, &s.prevEnd, &s.prevRenewed, &s.prevEndedAt}
}

func (s *scanned) lease(now int64, quarantine sql.NullInt64) lease {
	at := func(n sql.NullInt64) protocol.StoreTime { return protocol.StoreTime(n.Int64) }
	long := func(n sql.NullInt64) time.Duration { return time.Duration(n.Int64) * time.Microsecond }
	return lease{
		now: protocol.StoreTime(now), quarantine: at(quarantine), exists: s.namespace.Valid, namespace: s.namespace.String,
		Record: protocol.Record{Value: s.token.Int64, GrantID: s.grantID.String, Owner: s.owner.String, End: protocol.End(s.ended.String),
			Granted: at(s.granted), Renewed: at(s.renewed), Expires: at(s.expires), FreeAt: at(s.freeAt),
			LockDelay: long(s.lockDelay), TTL: long(s.ttl), Renewals: s.renewals.Int64},
		usable: time.Duration(s.usable.Int64),
		before: previous{s.prevToken.Int64, s.prevGrant.String, s.prevOwner.String, protocol.End(s.prevEnd.String), at(s.prevRenewed), at(s.prevEndedAt)},
	}
}

// args are the arguments that write the lease of resource.
func (l lease) args(resource string) []any {
	return []any{resource, l.Value, l.GrantID, l.Owner, orNull(string(l.End)), timeOrNull(l.Granted), timeOrNull(l.Renewed), timeOrNull(l.Expires), timeOrNull(l.FreeAt),
		l.LockDelay.Microseconds(), l.TTL.Microseconds(), l.usable.Nanoseconds(), l.Renewals,
		valueOrNull(l.before.value), orNull(l.before.grantID), orNull(l.before.owner), orNull(string(l.before.end)), timeOrNull(l.before.renewed), timeOrNull(l.before.ended)}
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func valueOrNull(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}

func timeOrNull(t protocol.StoreTime) any { return valueOrNull(int64(t)) }

// mine refuses a resource of another namespace.
func (l lease) mine(resource, namespace string) error {
	if l.exists && l.namespace != namespace {
		return refused("sqllease: %s belongs to namespace %q, not to %q: tokens of two namespaces have no order. Give one of them another name", resource, l.namespace, namespace)
	}
	return nil
}

// ended says how the grant has ended, empty if it has not or if there was none.
func (l lease) ended() string {
	if l.Value != 0 && l.End == "" && !l.Held(l.now) {
		return string(protocol.Expired)
	}
	return string(l.End)
}

// predecessor is the grant before, as a holder is told of it.
func (l lease) predecessor() fencedb.Predecessor {
	return fencedb.Predecessor{Value: l.before.value, GrantID: l.before.grantID, Owner: l.before.owner, End: string(l.before.end),
		Renewed: l.before.renewed.Time(), Ended: l.before.ended.Time()}
}

// quarantined is the answer while nothing is granted, nil otherwise.
func (l lease) quarantined(resource string) error {
	if l.now >= l.quarantine {
		return nil
	}
	return &fencedb.HeldError{Resource: resource, Owner: l.Owner, Value: l.Value, End: fencedb.Quarantined, FreeIn: l.quarantine.Sub(l.now)}
}

// observation is the lease as a status page shows it. Its moment is the end of the clock's
// step: what remains of a lease is then what remains at least.
func (s *session) observation(l lease, resource string) (fencedb.Observation, error) {
	o := fencedb.Observation{Namespace: s.namespace, Resource: resource, At: l.now.Add(s.dialect.resolution).Time(), Free: max(l.FreeAt, l.quarantine).Time()}
	if l.Value == 0 {
		return o, nil
	}
	t, err := fencedb.NewToken(resource, l.Value, l.GrantID)
	if err != nil {
		return fencedb.Observation{}, refused("sqllease: the row of %s was written by somebody else: %w", resource, err)
	}
	o.Held, o.Token, o.Owner, o.End = l.Held(l.now), t, l.Owner, l.ended()
	o.Granted, o.Renewed, o.Expires = l.Granted.Time(), l.Renewed.Time(), l.Expires.Time()
	o.Renewals, o.TTL, o.Usable, o.LockDelay, o.Predecessor = l.Renewals, l.TTL, l.usable, l.LockDelay, l.predecessor()
	return o, nil
}

// A counter is the row of a namespace.
type counter struct {
	protocol.Allocator
	quarantine protocol.StoreTime
	place      string // where the database says that it lives now
}

func (c counter) args(namespace string) []any {
	return []any{namespace, int64(c.Incarnation), c.Counter, orNull(c.Place)}
}
