package fencedbtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fencelint/fence/fencedb"
)

// A GuardUnderTest is a guard, and writes that it guards.
type GuardUnderTest struct {
	// Guard is the guard.
	Guard fencedb.Guard

	// Write makes a write of t's resource that compares t in its own atomic step. Errors
	// are those of a [fencedb.Decision]; others say nothing about whether it was made.
	Write func(ctx context.Context, t fencedb.Token) error

	// InScope is Write with fn run within it, after t was compared and before the write
	// counts. It returns fn's error as it is, if there is one. Nil if there is no such
	// moment: then one check is skipped.
	InScope func(ctx context.Context, t fencedb.Token, fn func() error) error
}

// A GuardSuite says how [RunGuard] gets the guard it tests.
type GuardSuite struct {
	// New makes a guard that was never raised. It is called once for each check; t is the
	// check's, for Cleanup and Fatal.
	New func(t *testing.T) GuardUnderTest

	// Row says that the guard is a column on each row, which takes a write with a token
	// above the one it knows, and is raised by it. Otherwise such a write is not granted.
	Row bool

	// Wait is how long a raise is watched that has to wait for a write: 200 ms if it is 0.
	Wait time.Duration

	// Late is how long a call may take whose context has ended: 2 s if it is 0.
	Late time.Duration

	// Parallel runs the checks at the same time.
	Parallel bool

	// Around runs each check, if it is not nil: [testing/synctest.Test] for a guard in memory.
	Around func(t *testing.T, check func(t *testing.T))
}

// RunGuard tests that a guard keeps what [fencedb.Guard] promises: that after a raise nothing
// below the token is accepted, whoever writes when. Each check is a subtest with a guard of
// its own; a failure says what was wrong and why it matters. It is for every place where
// tokens are compared: a table of guard rows, a service, an object store.
func RunGuard(t *testing.T, s GuardSuite) {
	around := s.Around
	if around == nil {
		around = func(t *testing.T, check func(*testing.T)) { check(t) }
	}
	for _, c := range guardChecks {
		t.Run(c.name, func(t *testing.T) {
			if s.Parallel {
				t.Parallel()
			}
			around(t, func(t *testing.T) {
				g := s.New(t)
				if c.inScope && g.InScope == nil {
					t.Skip("the suite was given no InScope: set that field of GuardUnderTest to run this check")
				}
				if err := c.check(t.Context(), s.trial(g)); err != nil {
					t.Errorf("%v\nwhy: %s", err, c.why)
				}
			})
		})
	}
}

func (s GuardSuite) trial(g GuardUnderTest) *guardTrial {
	return &guardTrial{GuardUnderTest: g, row: s.Row, wait: or(s.Wait, 200*time.Millisecond), late: or(s.Late, 2*time.Second)}
}

// A guardTrial is what a check of a guard works with.
type guardTrial struct {
	GuardUnderTest
	row  bool
	wait time.Duration
	late time.Duration
}

// A guardCheck is one promise and the function that tests it.
type guardCheck struct {
	name    string
	why     string // it matters
	inScope bool   // it needs InScope
	check   func(context.Context, *guardTrial) error
}

// guardChecks is what a guard has to keep.
var guardChecks = []guardCheck{
	{name: "never-raised", check: checkNeverRaised,
		why: "a guard row that is missing must not let a former holder in"},
	{name: "raise", check: checkRaise,
		why: "a holder raises the guard and writes, as often as it wants; the answer to a raise may be lost"},
	{name: "stale", check: checkStale,
		why: "this is what a guard is for"},
	{name: "above", check: checkAbove,
		why: "a token that the guard was not raised to says that somebody has skipped the raise"},
	{name: "conflict", check: checkConflict,
		why: "one number granted twice has two holders, neither of which is the later one"},
	{name: "resources", check: checkGuardResources,
		why: "a token is of one resource, named byte by byte"},
	{name: "extremes", check: checkExtremes,
		why: "the largest token must neither wrap around nor be rounded"},
	{name: "zero-token", check: checkZeroToken,
		why: "the zero token is what a program has that forgot to get one"},
	{name: "contexts", check: checkGuardContexts,
		why: "a holder gives a raise up when its deadline comes, and has to be able to"},
	{name: "concurrent-raises", check: checkConcurrentRaises,
		why: "whatever the order in which raises arrive, the latest holder has to win"},
	{name: "raise-waits", check: checkRaiseWaits, inScope: true,
		why: "a write that has compared its token and not yet happened is the one that a pause makes late"},
	{name: "fences", check: checkFences,
		why: "the next holder reads, and works, as soon as its raise is acknowledged"},
}

// A guardStep is one call and the result it has to have.
type guardStep struct {
	op    Op
	token fencedb.Token
	want  fencedb.Result
	known int64 // what the error has to say is known; 0: is not looked at
}

// steps makes calls one after another.
func (g *guardTrial) steps(ctx context.Context, steps ...guardStep) error {
	var p problems
	for i, s := range steps {
		call := g.Guard.Raise
		if s.op == OpWrite {
			call = g.Write
		}
		err := call(ctx, s.token)
		if got := fencedb.ResultOf(err); got != s.want {
			p.addf("step %d, %s with %v: %s (%s), want %s", i+1, s.op, s.token, got, said(err), s.want)
			continue
		}
		var stale *fencedb.StaleError
		if s.want == fencedb.Stale && (!errors.As(err, &stale) || stale.Resource != s.token.Resource() || stale.Presented != s.token.Value() || stale.Current != s.known) {
			p.addf("step %d, %s with %v: %#v; want a *StaleError with resource %q, presented %d and current %d", i+1, s.op, s.token, err, s.token.Resource(), s.token.Value(), s.known)
		}
		var conflict *fencedb.ConflictError
		if s.want == fencedb.Conflict && (!errors.As(err, &conflict) || conflict.Resource != s.token.Resource() || conflict.Value != s.token.Value() || conflict.Presented != s.token.Grant() || conflict.Current == s.token.Grant()) {
			p.addf("step %d, %s with %v: %#v; want a *ConflictError with its resource, value and grant id, and another grant id", i+1, s.op, s.token, err)
		}
	}
	return p.err()
}

func checkNeverRaised(ctx context.Context, g *guardTrial) error {
	want := fencedb.NotGranted
	if g.row {
		want = fencedb.Accepted
	}
	return g.steps(ctx, guardStep{OpWrite, Token("r", 41), want, 0})
}

func checkRaise(ctx context.Context, g *guardTrial) error {
	return g.steps(ctx,
		guardStep{OpRaise, Token("r", 41), fencedb.Accepted, 0},
		guardStep{OpWrite, Token("r", 41), fencedb.Accepted, 0},
		guardStep{OpWrite, Token("r", 41), fencedb.Accepted, 0},
		guardStep{OpRaise, Token("r", 41), fencedb.Accepted, 0},
		guardStep{OpWrite, Token("r", 41), fencedb.Accepted, 0},
		guardStep{OpRaise, Token("r", 50), fencedb.Accepted, 0},
		guardStep{OpRaise, Token("r", 50), fencedb.Accepted, 0},
		guardStep{OpWrite, Token("r", 50), fencedb.Accepted, 0})
}

func checkStale(ctx context.Context, g *guardTrial) error {
	return g.steps(ctx,
		guardStep{OpRaise, Token("r", 41), fencedb.Accepted, 0},
		guardStep{OpWrite, Token("r", 41), fencedb.Accepted, 0},
		guardStep{OpRaise, Token("r", 50), fencedb.Accepted, 0},
		guardStep{OpWrite, Token("r", 41), fencedb.Stale, 50}, // also before the first write of 50
		guardStep{OpWrite, Token("r", 49), fencedb.Stale, 50},
		guardStep{OpRaise, Token("r", 41), fencedb.Stale, 50},
		guardStep{OpRaise, Token("r", 49), fencedb.Stale, 50},
		guardStep{OpWrite, Token("r", 49), fencedb.Stale, 50}, // the raise in vain has changed nothing
		guardStep{OpWrite, Token("r", 50), fencedb.Accepted, 0},
		guardStep{OpWrite, Token("r", 41), fencedb.Stale, 50})
}

func checkAbove(ctx context.Context, g *guardTrial) error {
	above, below := fencedb.NotGranted, fencedb.Accepted
	var known int64
	if g.row { // the write has raised it
		above, below, known = fencedb.Accepted, fencedb.Stale, 50
	}
	return g.steps(ctx,
		guardStep{OpRaise, Token("r", 41), fencedb.Accepted, 0},
		guardStep{OpWrite, Token("r", 50), above, 0},
		guardStep{OpWrite, Token("r", 41), below, known})
}

func checkConflict(ctx context.Context, g *guardTrial) error {
	return g.steps(ctx,
		guardStep{OpRaise, Granted("r", 41, "one"), fencedb.Accepted, 0},
		guardStep{OpWrite, Granted("r", 41, "two"), fencedb.Conflict, 0},
		guardStep{OpRaise, Granted("r", 41, "two"), fencedb.Conflict, 0},
		guardStep{OpWrite, Granted("r", 41, "two"), fencedb.Conflict, 0}, // the raise in vain has changed nothing
		guardStep{OpRaise, Granted("r", 41, "ONE"), fencedb.Conflict, 0},
		guardStep{OpWrite, Granted("r", 41, "ONE"), fencedb.Conflict, 0},
		guardStep{OpWrite, Granted("r", 41, "one"), fencedb.Accepted, 0},
		// The number decides first: a later one is later whatever its grant's id is.
		guardStep{OpRaise, Granted("r", 42, "one"), fencedb.Accepted, 0},
		guardStep{OpWrite, Granted("r", 41, "one"), fencedb.Stale, 42},
		guardStep{OpWrite, Granted("r", 42, "one"), fencedb.Accepted, 0})
}

func checkGuardResources(ctx context.Context, g *guardTrial) error {
	resources := []string{"r", "R", "r/1", "r/2", "ä", "à", "a", "r r", "r%", "r_", `r'"\`, strings.Repeat("x", fencedb.MaxResource), strings.Repeat("x", fencedb.MaxResource-1)}
	var steps []guardStep
	// From large to small, so that each would be stale if it were compared with another's.
	for i, r := range resources {
		steps = append(steps, guardStep{OpRaise, Token(r, int64(1000-i)), fencedb.Accepted, 0})
	}
	for i, r := range resources {
		steps = append(steps,
			guardStep{OpWrite, Token(r, int64(1000-i)), fencedb.Accepted, 0},
			guardStep{OpWrite, Token(r, int64(1000-i-1)), fencedb.Stale, int64(1000 - i)})
	}
	return g.steps(ctx, steps...)
}

func checkExtremes(ctx context.Context, g *guardTrial) error {
	const last = 1<<63 - 1
	long := strings.Repeat("g", fencedb.MaxGrant)
	return g.steps(ctx,
		guardStep{OpRaise, Token("r", 1), fencedb.Accepted, 0},
		guardStep{OpWrite, Token("r", 1), fencedb.Accepted, 0},
		// A number of 64 bits, and not one of 53.
		guardStep{OpRaise, Token("r", 1<<53), fencedb.Accepted, 0},
		guardStep{OpRaise, Token("r", 1<<53+1), fencedb.Accepted, 0},
		guardStep{OpWrite, Token("r", 1<<53), fencedb.Stale, 1<<53 + 1},
		guardStep{OpRaise, Granted("r", last, long), fencedb.Accepted, 0},
		guardStep{OpWrite, Granted("r", last, long), fencedb.Accepted, 0},
		guardStep{OpWrite, Granted("r", last, long[1:]), fencedb.Conflict, 0},
		guardStep{OpWrite, Token("r", last-1), fencedb.Stale, last},
		guardStep{OpRaise, Token("r", last-1), fencedb.Stale, last})
}

func checkZeroToken(ctx context.Context, g *guardTrial) error {
	return g.steps(ctx,
		guardStep{OpRaise, fencedb.Token{}, fencedb.Invalid, 0},
		guardStep{OpWrite, fencedb.Token{}, fencedb.Invalid, 0},
		guardStep{OpRaise, Token("r", 1), fencedb.Accepted, 0},
		guardStep{OpWrite, fencedb.Token{}, fencedb.Invalid, 0},
		guardStep{OpWrite, Token("r", 1), fencedb.Accepted, 0})
}

func checkGuardContexts(ctx context.Context, g *guardTrial) error {
	if err := g.steps(ctx, guardStep{OpRaise, Token("r", 41), fencedb.Accepted, 0}); err != nil {
		return err
	}
	var p problems
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for op, call := range map[Op]func(context.Context, fencedb.Token) error{OpRaise: g.Guard.Raise, OpWrite: g.Write} {
		start := time.Now()
		if err := call(ended, Token("r", 42)); !errors.Is(err, context.Canceled) {
			p.addf("%s, with a context that has ended: %s; want an error that matches context.Canceled", op, said(err))
		}
		if took := time.Since(start); took > g.late {
			p.addf("%s, with a context that has ended, took %v", op, took)
		}
	}
	if err := g.steps(ctx, guardStep{OpWrite, Token("r", 41), fencedb.Accepted, 0}); err != nil {
		p.addf("after calls whose context had ended: %w", err)
	}
	return p.err()
}

func checkConcurrentRaises(ctx context.Context, g *guardTrial) error {
	var p problems
	for round := range 5 { // each in another order
		if err := g.concurrentRaises(ctx, fmt.Sprintf("r%d", round)); err != nil {
			p = append(p, err)
		}
	}
	return p.err()
}

func (g *guardTrial) concurrentRaises(ctx context.Context, resource string) error {
	const raises = 16
	errs := make([]error, raises+1)
	var wg sync.WaitGroup
	for _, i := range rand.Perm(raises) {
		wg.Go(func() { errs[i+1] = g.raise(ctx, Token(resource, int64(i+1))) })
	}
	wg.Wait()
	var p problems
	for value, err := range errs {
		switch fencedb.ResultOf(err) {
		case fencedb.Accepted:
		case fencedb.Stale:
			if value == raises {
				p.addf("the raise to %d, which is the largest: %w", value, err)
			}
		default:
			p.addf("the raise to %d, beside others: %w; want nil or a *StaleError", value, err)
		}
	}
	if err := g.steps(ctx,
		guardStep{OpWrite, Token(resource, raises), fencedb.Accepted, 0},
		guardStep{OpWrite, Token(resource, raises-1), fencedb.Stale, raises}); err != nil {
		p.addf("after raises to 1 to %d, made at the same time: %w", raises, err)
	}
	return p.err()
}

// raise repeats a raise that failed without a decision, as a holder does.
func (g *guardTrial) raise(ctx context.Context, t fencedb.Token) error {
	var err error
	for range 10 {
		if err = g.Guard.Raise(ctx, t); fencedb.ResultOf(err) != fencedb.Failed {
			return err
		}
		if err := sleep(ctx, g.wait/10); err != nil {
			return err
		}
	}
	return err
}

func checkRaiseWaits(ctx context.Context, g *guardTrial) error {
	former, present := Token("r", 41), Token("r", 42)
	if err := g.steps(ctx, guardStep{OpRaise, former, fencedb.Accepted, 0}); err != nil {
		return err
	}
	raised := make(chan error, 1)
	var started, overtaken bool
	writeErr := g.InScope(ctx, former, func() error {
		if started { // the guard repeats what failed
			return nil
		}
		started = true
		go func() { raised <- g.raise(ctx, present) }()
		timer := time.NewTimer(g.wait)
		defer timer.Stop()
		select {
		case err := <-raised:
			overtaken = err == nil
			raised <- err
		case <-timer.C:
		}
		return nil
	})
	if !started {
		return fmt.Errorf("a write with %s: %s; InScope has not called its function", former, said(writeErr))
	}
	raiseErr := <-raised
	switch {
	case overtaken && writeErr == nil:
		return fmt.Errorf("the raise to %s was acknowledged while a write with %s was under way, which was accepted afterwards", present, former)
	case raiseErr != nil:
		return fmt.Errorf("the raise to %s, beside a write that was under way: %w", present, raiseErr)
	case !overtaken && writeErr != nil:
		return fmt.Errorf("a write with %s, which came before the raise: %w", former, writeErr)
	}
	return g.steps(ctx,
		guardStep{OpWrite, former, fencedb.Stale, present.Value()},
		guardStep{OpWrite, present, fencedb.Accepted, 0})
}

// checkFences has holders write while later ones raise the guard, and looks for a write that
// was sent after a later raise had been acknowledged and was accepted all the same.
func checkFences(ctx context.Context, g *guardTrial) error {
	const holders, writers = 12, 3
	var mu sync.Mutex
	var p problems
	var acknowledged int64 // the largest token whose raise was answered
	var wg sync.WaitGroup
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for value := int64(1); value <= holders; value++ {
		t := Token("r", value)
		if err := g.raise(ctx, t); err != nil {
			stop()
			wg.Wait()
			return fmt.Errorf("the raise to %s, while others write: %w", t, err)
		}
		mu.Lock()
		acknowledged = value
		mu.Unlock()
		for range writers {
			wg.Go(func() {
				for ctx.Err() == nil {
					mu.Lock()
					known := acknowledged
					mu.Unlock()
					err := g.Write(ctx, t)
					result := fencedb.ResultOf(err)
					mu.Lock()
					switch {
					case result == fencedb.Accepted && value < known:
						p.addf("a write with %s was accepted; it was sent after the raise to %d had been acknowledged", t, known)
					case result != fencedb.Accepted && result != fencedb.Stale && result != fencedb.Failed:
						p.addf("a write with %s, to which the guard was raised: %w", t, err)
					case result == fencedb.Stale && acknowledged == value && value == holders:
						p.addf("a write with %s, the last: %w", t, err)
					}
					mu.Unlock()
					// A former holder is known to be one by its next write, at the latest.
					if result != fencedb.Accepted && result != fencedb.Failed || value < known || value == holders {
						return
					}
					if sleep(ctx, g.wait/100) != nil {
						return
					}
				}
			})
		}
		if sleep(ctx, g.wait/10) != nil {
			break // and the writers as well
		}
	}
	wg.Wait()
	return p.err()
}

// said is what an error says, also if there is none.
func said(err error) string {
	if err == nil {
		return "no error"
	}
	return err.Error()
}
