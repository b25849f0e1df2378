package sqllease

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/protocol"
)

// The lengths of the longest actor and reason in the audit, in bytes.
const (
	MaxActor  = 255
	MaxReason = 1024
)

// MaxQuarantine is the longest quarantine: what a holder can have been granted at most, its
// lock-delay, and as much again for clocks. Since a quarantine is never shortened, a longer
// one is a mistake.
const MaxQuarantine = 3 * protocol.MaxTTL

// A BreakRequest asks that a grant be ended by an operator.
type BreakRequest struct {
	Resource string
	Reason   string // why, 1 to [MaxReason] bytes
	Actor    string // who, 1 to [MaxActor] bytes
	// NoDelay lets another be granted the resource at once. Its former holder, who cannot be
	// told, may still act on it until its time has run out: what it changes has to compare tokens.
	NoDelay bool
}

// Break ends the grant of a resource and notes who did so and why, in one transaction, and
// returns what is known of the resource then. It draws a token above the grant's, so the grant
// is superseded. The next grant waits until the holder's time has run out and for the
// lock-delay, unless NoDelay. A grant that is broken already is left as it is, unless NoDelay,
// and nothing is noted.
//
// Errors: one that matches [fencedb.ErrReleased] if there is nothing to break, and those of
// Acquire. If the outcome is not known the request may be made again.
func (c *Coordinator) Break(ctx context.Context, r BreakRequest) (fencedb.Observation, error) {
	if _, err := fencedb.ExternalToken(r.Resource, 1); err != nil {
		return fencedb.Observation{}, refused("sqllease: %w", err)
	}
	if err := checkAudit(r.Actor, r.Reason); err != nil {
		return fencedb.Observation{}, err
	}
	return inBackground(ctx, c, "breaking "+r.Resource, func(ctx context.Context, s *session) (fencedb.Observation, error) {
		known := protocol.Watermark(s.seen.Load())
		var l lease
		s.sent = true
		err := s.inLimits(ctx, s.conn, func(tx *sql.Tx) error {
			var err error
			l, err = s.breakIn(ctx, tx, r, known)
			return err
		})
		if err != nil {
			return fencedb.Observation{}, err
		}
		s.see(l.Value)
		return s.observation(l, r.Resource)
	})
}

func checkAudit(actor, reason string) error {
	if actor == "" || reason == "" {
		return refused("sqllease: the audit wants an actor and a reason")
	}
	return errors.Join(checkText("actor", actor, MaxActor), checkText("reason", reason, MaxReason))
}

func (s *session) breakIn(ctx context.Context, tx *sql.Tx, r BreakRequest, known protocol.Watermark) (lease, error) {
	l, err := s.lockLease(ctx, tx, r.Resource, true)
	if err != nil {
		return lease{}, err
	}
	if err := l.mine(r.Resource, s.namespace); err != nil {
		return lease{}, err
	}
	// Asked before a token is drawn, with any that is above.
	switch _, a := l.Break(l.now, l.Value+1, r.NoDelay); a {
	case protocol.Yes:
	case protocol.Repeated:
		return l, nil
	default:
		return lease{}, fencedb.Refusal(a, r.Resource)
	}
	n, err := s.lockCounter(ctx, tx, false)
	if err != nil {
		return lease{}, err
	}
	value, err := s.draw(&n, l, r.Resource, known)
	if err != nil {
		return lease{}, err
	}
	after := l
	after.Record, _ = l.Break(l.now, value, r.NoDelay)
	if _, err := s.save(ctx, tx, r.Resource, after, n); err != nil {
		return lease{}, err
	}
	detail := fmt.Sprintf("owner %q, grant %s, no delay: %v", l.Owner, l.GrantID, r.NoDelay)
	return after, s.note(ctx, tx, "break", r.Resource, r.Actor, r.Reason, l.Value, value, detail)
}

// note writes a row of the audit.
func (s *session) note(ctx context.Context, tx *sql.Tx, action, resource, actor, reason string, before, after int64, detail string) error {
	if _, err := s.exec(ctx, tx, s.audit, s.namespace, action, orNull(resource), actor, reason, before, after, detail); err != nil {
		return fmt.Errorf("writing the audit: %w", err)
	}
	return nil
}

// An AdvanceRequest asks that a namespace's tokens go on from higher up: after a restore from
// a snapshot, or where a guard is ahead of the counter. At least one of Floor, NewIncarnation and
// Quarantine has to be given.
type AdvanceRequest struct {
	Floor          int64         // the largest token that is known anywhere; later ones are above it
	NewIncarnation bool          // later tokens are above all of the counter's incarnation, and of Floor's
	Quarantine     time.Duration // for how long nothing is granted, from 0 to [MaxQuarantine]
	Reason, Actor  string        // as in [BreakRequest]
}

// Advance raises the counter of the namespace and notes who did so and why. It can lower
// nothing: a Floor below the counter changes nothing, and neither does a quarantine that ends
// before the one there is. The token that it returns is below all that are granted afterwards.
//
// A new incarnation ends all grants that there are, since the database may have forgotten later
// ones of the same resources: their holders are told that they were broken ([fencedb.ErrReleased]),
// and the next grant waits until their time has run out and for their lock-delay. Holders that
// the database has forgotten are not told. Quarantine has to last as long as theirs may.
//
// Errors match [fencedb.ErrRefused] if asking again does not help. If the outcome is not known,
// the request may be made again.
func (c *Coordinator) Advance(ctx context.Context, r AdvanceRequest) (int64, error) {
	switch {
	case r.Floor < 0:
		return 0, refused("sqllease: the floor is %d; it must not be negative", r.Floor)
	case r.Quarantine < 0 || r.Quarantine > MaxQuarantine:
		return 0, refused("sqllease: the quarantine is %v; it has to be from 0 to %v", r.Quarantine, MaxQuarantine)
	case r.Floor == 0 && !r.NewIncarnation && r.Quarantine == 0:
		return 0, refused("sqllease: name a floor, a new incarnation or a quarantine")
	}
	if err := checkAudit(r.Actor, r.Reason); err != nil {
		return 0, err
	}
	type values struct{ before, after int64 }
	v, err := inBackground(ctx, c, "advancing "+c.namespace, func(ctx context.Context, s *session) (v values, err error) {
		s.sent = true
		err = s.inLimits(ctx, s.conn, func(tx *sql.Tx) error {
			v.before, v.after, err = s.advanceIn(ctx, tx, r)
			return err
		})
		return v, err
	})
	if err != nil || !r.NewIncarnation {
		return v.after, err
	}
	// In a transaction of its own: a grant locks its lease first and the counter then. Nothing
	// below the new incarnation is granted any more.
	_, err = inBackground(ctx, c, "ending the grants of "+c.namespace, func(ctx context.Context, s *session) (struct{}, error) {
		s.sent = true
		return struct{}{}, s.inLimits(ctx, s.conn, func(tx *sql.Tx) error {
			_, err := s.exec(ctx, tx, s.endAll, s.namespace, v.before)
			return err
		})
	})
	if err != nil {
		// Not an error of a request that did nothing, whatever this one is.
		return 0, fmt.Errorf("sqllease: the counter of %s is advanced, but its grants are not ended, make the request again: %v", c.namespace, err) //nolint:errorlint // see above
	}
	return v.after, nil
}

// advanceIn advances the counter. Before is the largest token that was granted.
func (s *session) advanceIn(ctx context.Context, tx *sql.Tx, r AdvanceRequest) (before, after int64, err error) {
	if s.dialect.lockByInsert { // SQLite's writer has to be this transaction before it reads
		if _, err := s.exec(ctx, tx, s.begin, s.namespace); err != nil {
			return 0, 0, fmt.Errorf("locking the counter: %w", err)
		}
	}
	n, err := s.lockCounter(ctx, tx, true)
	if err != nil {
		return 0, 0, err
	}
	var largest int64 // above the counter only if its row is new, or was changed by hand
	if err := s.row(ctx, tx, s.largest, []any{s.namespace}, &largest); err != nil {
		return 0, 0, fmt.Errorf("looking for tokens: %w", err)
	}
	now, err := s.time(ctx, tx)
	if err != nil {
		return 0, 0, err
	}
	before = max(n.Value(), largest)
	// The place is noted, so that the next grant does not count the move once more.
	next, _, err := n.Next(n.place, max(r.Floor, largest))
	if err == nil && r.NewIncarnation {
		next, err = next.Anew()
	}
	if err != nil {
		return 0, 0, refused("sqllease: namespace %q: %w", s.namespace, err)
	}
	n.Allocator = next
	until := n.quarantine
	if r.Quarantine > 0 {
		until = max(until, now.Add(r.Quarantine+s.dialect.resolution))
	}
	if _, err := s.exec(ctx, tx, s.advance, append(n.args(s.namespace), timeOrNull(until))...); err != nil {
		return 0, 0, fmt.Errorf("writing the counter: %w", err)
	}
	detail := fmt.Sprintf("floor %d, new incarnation: %v, quarantine %v", r.Floor, r.NewIncarnation, r.Quarantine)
	return before, n.Value(), s.note(ctx, tx, "advance", "", r.Actor, r.Reason, before, n.Value(), detail)
}

// Cleanup deletes the leases of the namespace that have been free for longer than olderThan,
// and rejections, of all namespaces, that are older. It returns how many leases it deleted. The
// counter stays, so the next token of such a resource is still larger than its last one;
// audit rows stay as well. OlderThan must not be negative, and should be longer than any
// request for a grant may be under way: the database no longer knows the grant ids it deletes.
func (c *Coordinator) Cleanup(ctx context.Context, olderThan time.Duration) (int, error) {
	if olderThan < 0 {
		return 0, refused("sqllease: leases cannot have been free for %v", olderThan)
	}
	return inBackground(ctx, c, "cleaning "+c.namespace, func(ctx context.Context, s *session) (int, error) {
		var deleted int64
		s.sent = true
		err := s.inLimits(ctx, s.conn, func(tx *sql.Tx) error {
			result, err := s.exec(ctx, tx, s.clean, s.namespace, -olderThan.Microseconds())
			if err != nil {
				return err
			}
			if deleted, err = result.RowsAffected(); err != nil {
				return err
			}
			_, err = s.exec(ctx, tx, s.forget, -olderThan.Microseconds())
			return err
		})
		return int(deleted), err
	})
}
