package storetest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"testing"
	"time"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/protocol"
	"github.com/fencelint/fence/fencedb/sqllease"
)

// What SQL answers, and what it writes, is what package protocol says, for random requests with
// leases that end meanwhile.
func TestSQLLeaseModel(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		c := db.leases(t).open()
		seen := make(map[string]int)
		for seed := range uint64(4) {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				m := &model{t: t, c: c, resource: fmt.Sprintf("r%d", seed), rand: mathrand.New(mathrand.NewPCG(seed, 1)), seen: seen}
				if db.dialect != fencedb.Postgres {
					m.step = time.Millisecond
				}
				for range 120 {
					m.request()
					if t.Failed() {
						return
					}
				}
			})
		}
		for _, what := range []string{"acquire Yes", "acquire No", "acquire again Repeated", "renew Yes", "renew NoExpired", "release Yes", "break Yes"} {
			if seen[what] == 0 {
				t.Errorf("no request was %q: %v", what, seen)
			}
		}
	})
}

// model is the record of one resource beside the database's.
type model struct {
	t        *testing.T
	c        *sqllease.Coordinator
	resource string
	rand     *mathrand.Rand
	step     time.Duration // of the database's clock
	record   protocol.Record
	last     fencedb.AcquireRequest
	token    fencedb.Token
	seen     map[string]int
}

var answers = map[protocol.Answer]string{
	protocol.Yes: "Yes", protocol.Repeated: "Repeated", protocol.No: "No", protocol.NoExpired: "NoExpired",
	protocol.NoReleased: "NoReleased", protocol.NoBroken: "NoBroken", protocol.NoSuperseded: "NoSuperseded",
}

// answered is an error as an answer. NoBroken is told as NoReleased is.
func answered(err error, repeated bool) string {
	switch {
	case err == nil && repeated:
		return "Repeated"
	case err == nil:
		return "Yes"
	case errors.Is(err, fencedb.ErrHeld):
		return "No"
	case errors.Is(err, fencedb.ErrLeaseExpired):
		return "NoExpired"
	case errors.Is(err, fencedb.ErrReleased):
		return "NoReleased"
	case errors.Is(err, fencedb.ErrSuperseded):
		return "NoSuperseded"
	}
	return err.Error()
}

func (m *model) observe() (fencedb.Observation, protocol.StoreTime) {
	m.t.Helper()
	o, err := m.c.Observe(m.t.Context(), m.resource)
	if err != nil {
		m.t.Fatal(err)
	}
	return o, protocol.StoreTimeOf(o.At.Add(-m.step))
}

// request makes a random request and compares answer and row.
func (m *model) request() {
	ctx := m.t.Context()
	ms := func(n int) time.Duration { return time.Duration(m.rand.IntN(n)) * time.Millisecond }
	var what string
	var do func() (got string)
	var want func(now protocol.StoreTime) (protocol.Record, protocol.Answer)
	var at func(o fencedb.Observation) time.Time // when it was done
	switch n := m.rand.IntN(100); {
	case n < 25:
		time.Sleep(ms(50))
		return
	case n < 55:
		what = "acquire"
		r := fencedb.AcquireRequest{Resource: m.resource, GrantID: rand.Text(), Owner: "o", TTL: 20*time.Millisecond + ms(60), LockDelay: ms(20), Usable: 7}
		if n < 30 && m.last.GrantID != "" {
			what, r = "acquire again", m.last
		}
		do = func() string {
			g, err := m.c.Acquire(ctx, r)
			if err == nil {
				m.last, m.token = r, g.Token
			}
			return answered(err, g.Repeated)
		}
		want = func(now protocol.StoreTime) (protocol.Record, protocol.Answer) {
			q := protocol.Request{GrantID: r.GrantID, Owner: r.Owner, TTL: r.TTL + m.step, LockDelay: r.LockDelay}
			a := m.record.Acquire(now, q)
			if a != protocol.Yes {
				return m.record, a
			}
			next, _ := m.record.Grant(now, q, m.token.Value())
			next.TTL = r.TTL
			return next, a
		}
		at = func(o fencedb.Observation) time.Time { return o.Granted }
	case n < 80:
		what = "renew"
		ttl := 10*time.Millisecond + ms(60)
		do = func() string {
			_, err := m.c.Renew(ctx, fencedb.RenewRequest{Token: m.token, TTL: ttl, Usable: 7})
			return answered(err, false)
		}
		want = func(now protocol.StoreTime) (protocol.Record, protocol.Answer) {
			next, a := m.record.Renew(now, m.token.Grant(), m.token.Value(), ttl+m.step)
			if a == protocol.Yes {
				next.TTL = ttl
			}
			return next, a
		}
		at = func(o fencedb.Observation) time.Time { return o.Renewed }
	case n < 90:
		what = "release"
		do = func() string {
			// A release that was repeated is told as one that was done.
			repeated := m.record.End == protocol.Released
			return answered(m.c.Release(ctx, m.token), repeated)
		}
		want = func(now protocol.StoreTime) (protocol.Record, protocol.Answer) {
			return m.record.Release(now, m.token.Grant(), m.token.Value())
		}
		at = func(o fencedb.Observation) time.Time { return o.Free }
	default:
		what = "break"
		noDelay := m.rand.IntN(2) == 0
		drawn := m.record.Value + 1
		do = func() string {
			repeated := m.record.End == protocol.Broken && !noDelay
			o, err := m.c.Break(ctx, sqllease.BreakRequest{Resource: m.resource, Actor: "a", Reason: "r", NoDelay: noDelay})
			drawn = o.Token.Value()
			return answered(err, repeated)
		}
		want = func(now protocol.StoreTime) (protocol.Record, protocol.Answer) {
			return m.record.Break(now, drawn, noDelay)
		}
		at = func(o fencedb.Observation) time.Time {
			if noDelay {
				return o.Free
			}
			return o.Expires
		}
	}
	if m.token.IsZero() && what != "acquire" && what != "acquire again" {
		return
	}
	_, before := m.observe()
	got := do()
	o, after := m.observe()
	_, early := want(before)
	_, late := want(after)
	told := func(a protocol.Answer) string {
		if a == protocol.NoBroken {
			a = protocol.NoReleased
		}
		return answers[a]
	}
	if got != told(early) && got != told(late) {
		m.t.Errorf("%s of %+v between %d and %d: %s, want %s or %s", what, m.record, before, after, got, answers[early], answers[late])
		return
	}
	m.seen[what+" "+got]++
	if got == "Yes" {
		m.record, _ = want(protocol.StoreTimeOf(at(o)))
	}
	row := protocol.Record{Value: o.Token.Value(), GrantID: o.Token.Grant(), Owner: o.Owner, End: protocol.End(o.End),
		Granted: protocol.StoreTimeOf(o.Granted), Renewed: protocol.StoreTimeOf(o.Renewed), Expires: protocol.StoreTimeOf(o.Expires),
		FreeAt: protocol.StoreTimeOf(o.Free), LockDelay: o.LockDelay, TTL: o.TTL, Renewals: o.Renewals}
	if row.End == protocol.Expired {
		row.End = ""
	}
	if m.record.Value != 0 && row != m.record {
		m.t.Errorf("after %s (%s) the row is\n%+v, want\n%+v", what, got, row, m.record)
	}
}

// Sixteen processes that want one resource get it one after another, with rising tokens.
func TestSQLLeaseConcurrent(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		db.SetMaxOpenConns(20)
		leases := db.leases(t)
		const workers, rounds = 16, 2
		type held struct {
			token    fencedb.Token
			from, to time.Time
		}
		grants := make(chan held, workers*rounds)
		failed := make(chan error, workers)
		ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
		defer cancel()
		for range workers {
			c := leases.open()
			go func() {
				failed <- func() error {
					for range rounds {
						r := ask("r", time.Minute)
						for {
							g, err := c.Acquire(ctx, r)
							if errors.Is(err, fencedb.ErrHeld) || errors.Is(err, fencedb.ErrRetryable) {
								time.Sleep(time.Millisecond)
								continue
							}
							if err != nil {
								return err
							}
							h := held{token: g.Token, from: time.Now()}
							time.Sleep(time.Millisecond)
							h.to = time.Now()
							grants <- h
							if err := c.Release(ctx, g.Token); err != nil {
								return err
							}
							break
						}
					}
					return nil
				}()
			}()
		}
		for range workers {
			if err := <-failed; err != nil {
				t.Error(err)
			}
		}
		close(grants)
		var last held
		n := 0
		for h := range grants { // in the order of holding: each is sent before its release
			n++
			if h.token.Value() <= last.token.Value() || h.from.Before(last.to) {
				t.Errorf("%v from %v came after %v until %v", h.token, h.from, last.token, last.to)
			}
			last = h
		}
		if n != workers*rounds {
			t.Errorf("%d grants, want %d", n, workers*rounds)
		}
		db.idle(t)
	})
}

// Tokens of resources that are granted at the same time are unique.
func TestSQLLeaseConcurrentResources(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		db.SetMaxOpenConns(20)
		leases := db.leases(t)
		const workers, rounds = 16, 4
		type answer struct {
			token int64
			err   error
		}
		all := make(chan answer, workers*rounds)
		for w := range workers {
			c := leases.open()
			go func() {
				last := int64(0)
				for n := range rounds {
					g, err := c.Acquire(t.Context(), ask(fmt.Sprintf("r-%d-%d", w, n), time.Minute))
					if err == nil && g.Token.Value() <= last {
						err = fmt.Errorf("token %d after %d", g.Token.Value(), last)
					}
					last = g.Token.Value()
					all <- answer{last, err}
				}
			}()
		}
		seen := make(map[int64]bool)
		for range workers * rounds {
			a := <-all
			if a.err != nil || seen[a.token] {
				t.Errorf("token %d, given before: %v, %v", a.token, seen[a.token], a.err)
			}
			seen[a.token] = true
		}
	})
}
