package sqllease

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/protocol"
)

// Renew implements [fencedb.Coordinator]. It is one statement, which commits by itself, and
// one or two more if the answer is no. TTL and Usable have Acquire's ranges. On MariaDB and MySQL,
// whose UPDATE returns one number, Renewal.Count is at most 8388607.
//
// A renewal does not wait for writers of the resource, nor for grants of others, unless its own
// lease has expired and another is being granted it.
func (c *Coordinator) Renew(ctx context.Context, r fencedb.RenewRequest) (fencedb.Renewal, error) {
	if err := r.Check(); err != nil {
		return fencedb.Renewal{}, err
	}
	r.TTL = r.TTL.Truncate(time.Microsecond)
	args := []any{r.Token.Resource(), c.namespace, r.Token.Value(), r.Token.Grant(), (r.TTL + c.dialect.resolution).Microseconds(), r.TTL.Microseconds(), r.Usable.Nanoseconds()}
	what := "renewing " + r.Token.Resource()
	if at, count, done, err := c.renewPrepared(ctx, args); err != nil {
		return fencedb.Renewal{}, about(what, err)
	} else if done {
		return fencedb.Renewal{TTL: r.TTL, At: at, Count: count}, nil
	}
	return direct(ctx, c, what, func(ctx context.Context, s *session) (fencedb.Renewal, error) { return s.extend(ctx, r, args) })
}

func (s *session) extend(ctx context.Context, r fencedb.RenewRequest, args []any) (fencedb.Renewal, error) {
	t := r.Token
	s.sent = true
	at, count, found, err := s.renewed(ctx, args)
	if err != nil {
		return fencedb.Renewal{}, err
	}
	if found {
		return fencedb.Renewal{TTL: r.TTL, At: at, Count: count}, nil
	}
	l, err := s.observe(ctx, t.Resource())
	if err != nil {
		return fencedb.Renewal{}, err
	}
	if err := l.mine(t.Resource(), s.namespace); err != nil {
		return fencedb.Renewal{}, err
	}
	_, a := l.Renew(l.now, t.Grant(), t.Value(), r.TTL)
	if a == protocol.Yes { // the clock has gone back since, over the lease's end
		a = protocol.NoExpired
	}
	return fencedb.Renewal{}, fencedb.Refusal(a, t.Resource())
}

// renewed sends a renewal and reads its answer. It found the lease, or nothing was changed.
func (s *session) renewed(ctx context.Context, args []any) (at time.Time, count int64, found bool, err error) {
	if s.dialect.inline {
		result, err := s.exec(ctx, s.conn, s.renew, args...)
		if err != nil {
			return at, 0, false, err
		}
		n, err := result.RowsAffected()
		if err != nil || n == 0 {
			return at, 0, false, err
		}
		packed, err := result.LastInsertId()
		return time.UnixMilli(since2020 + packed>>countBits).UTC(), packed & maxCount, true, err
	}
	var now int64
	err = s.row(ctx, s.conn, s.renew, args, &now, &count)
	if errors.Is(err, sql.ErrNoRows) {
		return at, 0, false, nil
	}
	return protocol.StoreTime(now).Time(), count, true, err
}

// Release implements [fencedb.Coordinator]. It is one statement, and another one if the grant
// is not there to be released.
func (c *Coordinator) Release(ctx context.Context, t fencedb.Token) error {
	if err := fencedb.CheckGranted(t); err != nil {
		return err
	}
	_, err := direct(ctx, c, "releasing "+t.Resource(), func(ctx context.Context, s *session) (struct{}, error) { return struct{}{}, s.free(ctx, t) })
	return err
}

func (s *session) free(ctx context.Context, t fencedb.Token) error {
	s.sent = true
	result, err := s.exec(ctx, s.conn, s.release, t.Resource(), s.namespace, t.Value(), t.Grant())
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n == 1 {
		return err
	}
	l, err := s.observe(ctx, t.Resource())
	if err != nil {
		return err
	}
	if err := l.mine(t.Resource(), s.namespace); err != nil {
		return err
	}
	switch _, a := l.Release(l.now, t.Grant(), t.Value()); a {
	case protocol.Repeated:
		return nil
	case protocol.Yes:
		return errors.New("the lease was not there, and is now: somebody writes the table by hand")
	default:
		return fencedb.Refusal(a, t.Resource())
	}
}

// Observe implements [fencedb.Coordinator]. It is one statement, which locks nothing. Free of
// a resource that was never granted is the zero time, or the end of a quarantine.
func (c *Coordinator) Observe(ctx context.Context, resource string) (fencedb.Observation, error) {
	if _, err := fencedb.ExternalToken(resource, 1); err != nil {
		return fencedb.Observation{}, refused("sqllease: %w", err)
	}
	return direct(ctx, c, "observing "+resource, func(ctx context.Context, s *session) (fencedb.Observation, error) {
		l, err := s.observe(ctx, resource)
		if err != nil {
			return fencedb.Observation{}, err
		}
		if err := l.mine(resource, s.namespace); err != nil {
			return fencedb.Observation{}, err
		}
		return s.observation(l, resource)
	})
}

// observe reads a lease without a lock.
func (s *session) observe(ctx context.Context, resource string) (lease, error) {
	var now int64
	var quarantine sql.NullInt64
	var row scanned
	err := s.row(ctx, s.conn, s.state, []any{resource, s.namespace}, append([]any{&now, &quarantine}, row.columns()...)...)
	if err != nil {
		return lease{}, fmt.Errorf("reading the lease: %w", err)
	}
	l := row.lease(now, quarantine)
	if l.namespace == s.namespace {
		s.see(l.Value)
	}
	return l, nil
}

// A Listing is what is known of one resource, and of the writes of it that were rejected.
type Listing struct {
	fencedb.Observation
	Rejected     int64     // how many there are in the table, see [NewRecorder]
	LastRejected time.Time // the latest; zero if there is none
}

// List returns all resources of the namespace that were ever granted and are not cleaned up,
// sorted by name, as of one moment.
func (c *Coordinator) List(ctx context.Context) ([]Listing, error) {
	return direct(ctx, c, "listing "+c.namespace, func(ctx context.Context, s *session) ([]Listing, error) {
		var all []Listing
		err := s.rows(ctx, s.conn, s.list, []any{s.namespace}, func(rows *sql.Rows) error {
			var now, rejected int64
			var quarantine, latest sql.NullInt64
			var row scanned
			var resource string
			dest := append([]any{&now, &quarantine}, row.columns()...)
			if err := rows.Scan(append(dest, &resource, &rejected, &latest)...); err != nil {
				return err
			}
			o, err := s.observation(row.lease(now, quarantine), resource)
			all = append(all, Listing{o, rejected, protocol.StoreTime(latest.Int64).Time()})
			return err
		})
		slices.SortFunc(all, func(a, b Listing) int { return strings.Compare(a.Resource, b.Resource) })
		return all, err
	})
}
