package fencedb

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"sync"
	"time"

	"github.com/fencelint/fence/fencedb/protocol"
)

// Hold waits until it is granted resource, runs work under the lease, and gives it back.
//
//   - Work starts once every guard that [Guards] names knows the token.
//   - Work's context ends when ctx does, when the lease is lost, and at the conservative
//     deadline, which renewals move on: before the coordinator would let another in, as long
//     as both clocks keep to the bound of [Drift]. Its cause is ctx's, or a [*LostError],
//     which matches [ErrLeaseExpired] or [ErrSuperseded].
//   - Hold returns when work has returned, never earlier, and releases the lease then. If
//     work has not returned at the deadline nothing is released: the lease runs out.
//   - There is one acquisition. After a loss nothing is acquired again; whether to call Hold
//     once more is for the caller to say.
//   - If work panics, or calls [runtime.Goexit], the renewals stop, nothing is released, and
//     the panic goes on.
//
// The error is work's own if the lease was valid until work returned; otherwise work's
// joined with a [*LostError], also if work returned nil. If there was no grant, it is ctx's
// cause, joined with what the coordinator said last, or one that matches [ErrRefused],
// [ErrInvalidOptions] or [ErrInvalidToken].
//
// A release that fails is told to the observer and to nobody else: the work is done and the
// lease runs out by itself.
func Hold(ctx context.Context, c Coordinator, resource string, work func(ctx context.Context, lease *Lease) error, opts ...HoldOption) error {
	return hold(ctx, c, resource, work, true, opts)
}

// TryHold is [Hold], except that it asks once: if another holds the resource it returns a
// [*HeldError], which matches [ErrHeld], and if the coordinator does not answer, its error.
func TryHold(ctx context.Context, c Coordinator, resource string, work func(ctx context.Context, lease *Lease) error, opts ...HoldOption) error {
	return hold(ctx, c, resource, work, false, opts)
}

func hold(ctx context.Context, c Coordinator, resource string, work func(context.Context, *Lease) error, wait bool, opts []HoldOption) error {
	config, err := newHoldConfig(opts)
	if err != nil {
		return err
	}
	switch {
	case c == nil:
		return fmt.Errorf("%w: no coordinator", ErrInvalidOptions)
	case work == nil:
		return fmt.Errorf("%w: no work", ErrInvalidOptions)
	}
	if err := checkResource(resource); err != nil {
		return err
	}
	h := &holding{holdConfig: config, coordinator: c, resource: resource, ctx: ctx,
		cause:  "ambiguous_renewal",
		raised: make([]bool, len(config.guards)), started: make(chan struct{}), finished: make(chan struct{})}
	h.requests, h.cancelRequests = context.WithCancel(context.WithoutCancel(ctx))
	h.state.HolderConfig = protocol.HolderConfig{Timing: config.timing, Wait: wait, Guards: len(config.guards) > 0,
		Abort: config.abort, RetryEvery: config.retryEvery, Poll: config.poll}
	return h.run(work)
}

// A holding is the shell around a protocol.Holder: it reads the clock, sends the requests,
// and keeps the timer. Events come from the requests' goroutines, the timer, and the
// caller's goroutine, which runs the work.
type holding struct {
	holdConfig
	coordinator Coordinator
	resource    string
	ctx         context.Context // the caller's

	requests       context.Context // ends when the answers do not matter any more
	cancelRequests context.CancelFunc
	underway       sync.WaitGroup // requests

	started  chan struct{} // closed when the work may start
	finished chan struct{} // closed when nothing is left to do but the work

	mu         sync.Mutex
	state      protocol.Holder
	timer      *time.Timer
	wake       protocol.Instant // what the timer is for
	wall       time.Duration    // the wall clock less the other, when they were last compared
	suspended  time.Duration
	compared   bool   // the clocks were, before
	cause      string // of the uncertainty
	jump       time.Duration
	grantID    string
	unsure     bool // a grant may have been made for grantID
	grant      Grant
	raised     []bool
	lease      *Lease
	workCtx    context.Context
	cancelWork context.CancelCauseFunc
	last       error // the last answer that was none, or a no
	release    string
	releaseErr error
	asked      protocol.Instant // when the request that was granted was sent
	stopping   protocol.Instant // when the work was told to stop
}

func (h *holding) run(work func(context.Context, *Lease) error) error {
	stop := context.AfterFunc(h.ctx, func() { h.on(protocol.Event{Kind: protocol.StopAsked}) })
	defer stop()
	defer h.cancelRequests()
	h.on(protocol.Event{Kind: protocol.Start})
	select {
	case <-h.started:
	case <-h.finished:
		h.underway.Wait()
		h.end(false)
		return h.result(false, nil)
	}
	return h.result(true, h.work(work))
}

// work runs the work in the caller's goroutine, so that a panic goes on from here.
func (h *holding) work(work func(context.Context, *Lease) error) error {
	returned := false
	defer func() {
		event := protocol.Event{Kind: protocol.WorkReturned}
		if !returned {
			event.Kind = protocol.WorkPanicked
		}
		h.on(event)
		<-h.finished
		h.underway.Wait()
		h.cancelWork(context.Canceled)
		h.end(false)
	}()
	err := work(h.workCtx, h.lease)
	returned = true
	return err
}

// result is what Hold returns.
func (h *holding) result(worked bool, err error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.state.Reason != protocol.NotLost {
		return errors.Join(err, h.lost())
	}
	if worked {
		return err
	}
	switch h.state.Failure {
	case protocol.FailedStopped:
		cause := context.Cause(h.ctx)
		if h.last != nil {
			return fmt.Errorf("fencedb: no grant of %s: %w; the last answer was: %w", h.resource, cause, h.last)
		}
		return fmt.Errorf("fencedb: no grant of %s: %w", h.resource, cause)
	default:
		return h.last
	}
}

func (h *holding) lost() *LostError {
	return &LostError{Resource: h.resource, Token: h.grant.Token, Reason: lossReasons[h.state.Reason], Err: h.last}
}

// on takes an event in.
func (h *holding) on(e protocol.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e.Now = now(h.clock)
	h.compareClocks(e.Now)
	h.step(e)
}

// step takes an event in whose Now is set.
func (h *holding) step(e protocol.Event) {
	e.Random = uint16(mathrand.Uint32())
	var actions []protocol.Action
	h.state, actions = protocol.Step(h.state, e)
	h.publish()
	for _, a := range actions {
		h.perform(a)
	}
	h.arm(e.Now)
}

// compareClocks has the holder know if the system was suspended, or the wall clock was set,
// by more than the margin: then it is not certain what the deadline is worth.
func (h *holding) compareClocks(at protocol.Instant) {
	wall, suspended := h.clock.Wall().Sub(time.Unix(0, 0))-time.Duration(at), h.clock.Suspended()
	stepped, slept := wall-h.wall, suspended-h.suspended
	known := h.compared
	h.wall, h.suspended, h.compared = wall, suspended, true
	tolerance := max(h.timing.Margin, time.Millisecond)
	if !known || (stepped.Abs() <= tolerance && slept <= tolerance) {
		return
	}
	h.cause, h.jump = "clock_jump", stepped
	if slept > tolerance {
		h.cause, h.jump = "suspend", slept
	}
	h.step(protocol.Event{Kind: protocol.ClockJumped, Now: at})
	h.cause, h.jump = "ambiguous_renewal", 0
}

// publish shows the work what the step made of its lease.
func (h *holding) publish() {
	if h.lease == nil {
		return
	}
	deadline := h.state.Deadline
	if h.state.Ended {
		deadline = 0
	}
	h.lease.deadline.Store(int64(deadline))
	h.lease.uncertain.Store(h.state.Uncertain)
}

// arm sets the timer for the next tick. It counts by Go's clock, so it may be late, and
// then the lease has been invalid for that long: Valid reads the clock.
func (h *holding) arm(at protocol.Instant) {
	h.wake = h.state.NextWake()
	if h.lease != nil {
		h.lease.wake.Store(int64(h.wake))
	}
	switch {
	case h.wake == 0:
		if h.timer != nil {
			h.timer.Stop()
		}
	case h.timer == nil:
		h.timer = time.AfterFunc(h.wake.Sub(at), h.tick)
	default:
		h.timer.Reset(h.wake.Sub(at))
	}
}

func (h *holding) tick() {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := now(h.clock)
	h.compareClocks(at)
	if h.wake == 0 {
		return
	}
	if late := at.Sub(h.wake); h.lease != nil && late > time.Duration(h.lease.pause.Load()) {
		h.lease.pause.Store(int64(late))
	}
	h.step(protocol.Event{Kind: protocol.Tick, Now: at})
}

// perform does an action. It runs in the step, under h.mu, in which nothing blocks.
func (h *holding) perform(a protocol.Action) {
	switch a.Kind {
	case protocol.SendAcquire:
		h.sendAcquire(a)
	case protocol.SendRaise:
		h.sendRaise(a)
	case protocol.SendRenew:
		h.sendRenew(a)
	case protocol.SendRelease:
		h.sendRelease(a)
	case protocol.CancelRequests:
		h.cancelRequests()
	case protocol.StartWork:
		h.startWork()
	case protocol.CancelWork:
		h.stopWork()
	case protocol.ReportRunning:
		h.reportEnd(true)
	case protocol.ReportUncertain:
		h.reportUncertain(true)
	case protocol.ReportCertain:
		h.reportUncertain(false)
	case protocol.Finish:
		close(h.finished)
	}
}

// send runs a request, and takes in the event that its answer is.
func (h *holding) send(timeout time.Duration, request func(context.Context) protocol.Event) {
	h.underway.Go(func() {
		ctx, cancel := context.WithTimeout(h.requests, timeout)
		defer cancel()
		h.on(request(ctx))
	})
}

func (h *holding) sendAcquire(a protocol.Action) {
	if a.Fresh || h.grantID == "" {
		h.grantID, h.unsure = rand.Text(), false
	}
	r := AcquireRequest{Resource: h.resource, GrantID: h.grantID, Owner: h.owner, TTL: h.timing.TTL,
		LockDelay: h.lockDelay, Usable: h.usable(h.timing.TTL), Guards: h.guards}
	h.send(a.Timeout, func(ctx context.Context) protocol.Event {
		grant, err := h.coordinator.Acquire(ctx, r)
		event := acquireEvent(err)
		event.Sent, event.TTL, event.Repeated = a.Sent, grant.TTL, grant.Repeated
		h.answered(grant, err, a.Sent, event.Kind == protocol.AcquireUnknown)
		if h.observe != nil {
			tell(h.ctx, h.observe.Attempt, AttemptReceipt{Namespace: h.coordinator.Namespace(), Resource: h.resource, Owner: h.owner,
				GrantID: r.GrantID, Outcome: attemptOutcome(event.Kind, err), Duration: now(h.clock).Sub(a.Sent), Err: err})
		}
		return event
	})
}

// answered keeps the answer to a request for a grant before the holder is told of it.
func (h *holding) answered(g Grant, err error, sent protocol.Instant, unknown bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil {
		h.last, h.unsure = err, h.unsure || unknown
		return
	}
	h.grant, h.asked, h.last = g, sent, nil
	copy(h.raised, g.Raised)
	h.lease = &Lease{token: g.Token, namespace: h.coordinator.Namespace(), owner: h.owner, granted: g.At,
		raised: len(h.guards) > 0, clock: h.clock}
	h.lease.renewed.Store(int64(protocol.StoreTimeOf(g.At)))
}

// usable is what the holder counts on of a TTL.
func (h *holding) usable(ttl time.Duration) time.Duration {
	return h.timing.Usable(ttl) - h.timing.Margin
}

func (h *holding) sendRaise(a protocol.Action) {
	h.send(a.Timeout, func(ctx context.Context) protocol.Event {
		for i, g := range h.guards {
			if h.isRaised(i) {
				continue
			}
			if err := g.Raise(ctx, h.grant.Token); err != nil {
				h.failed(fmt.Errorf("fencedb: raising guard %d of %s: %w", i, h.resource, h.regressed(ctx, err)))
				return protocol.Event{Kind: raiseKind(err)}
			}
			h.noteRaised(i)
		}
		return protocol.Event{Kind: protocol.RaiseDone}
	})
}

// regressed says so if a guard knows a grant that is no earlier than this one, which is still the
// latest that the coordinator knows of: then no successor has raised it, and the coordinator's
// tokens have gone back.
func (h *holding) regressed(ctx context.Context, err error) error {
	var stale *StaleError
	var conflict *ConflictError
	var known int64
	switch {
	case errors.As(err, &stale) && stale.Current > 0:
		known = stale.Current
	case errors.As(err, &conflict):
		known = conflict.Value
	default:
		return err
	}
	if o, observing := h.coordinator.Observe(ctx, h.resource); observing != nil || o.Token != h.grant.Token {
		return err
	}
	return fmt.Errorf("%w: %w", err, &RegressionError{Namespace: h.coordinator.Namespace(), Resource: h.resource,
		Granted: h.grant.Token.Value(), Known: known, Source: "guard"})
}

func (h *holding) isRaised(i int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.raised[i]
}

func (h *holding) noteRaised(i int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.raised[i] = true
}

// failed keeps an answer that was none, or a no.
func (h *holding) failed(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = err
}

func (h *holding) sendRenew(a protocol.Action) {
	r := RenewRequest{Token: h.grant.Token, TTL: h.timing.TTL, Usable: h.usable(h.timing.TTL)}
	lease := h.lease
	h.underway.Go(func() {
		ctx, cancel := context.WithTimeout(h.requests, a.Timeout)
		defer cancel()
		renewal, err := h.coordinator.Renew(ctx, r)
		event, outcome := renewEvent(err)
		event.Attempt, event.Sent, event.TTL = a.Attempt, a.Sent, renewal.TTL
		if err == nil {
			lease.renewed.Store(int64(protocol.StoreTimeOf(renewal.At)))
		}
		canceled := h.requests.Err() != nil
		if !canceled {
			h.keepLast(err)
		}
		h.on(event)
		if h.observe == nil || (canceled && err != nil) {
			return // what a renewal that was given up came to is of no interest
		}
		tell(h.ctx, h.observe.Renew, RenewReceipt{Namespace: lease.namespace, Lease: lease, Outcome: outcome,
			Duration: now(h.clock).Sub(a.Sent), Remaining: lease.Remaining(), Coordinator: renewal.At, Count: renewal.Count, Err: err})
	})
}

// keepLast keeps what a renewal came to: an error, or that there is none any more.
func (h *holding) keepLast(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	// A renewal says nothing of a guard that has not answered well.
	if h.state.State == protocol.Held || h.state.State == protocol.Raising && err != nil {
		h.last = err
	}
}

// sendRelease releases the grant once the other requests have ended, with a context of its
// own: the caller's has often ended by now.
func (h *holding) sendRelease(a protocol.Action) {
	go func() {
		h.underway.Wait()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(h.ctx), a.Timeout)
		defer cancel()
		err := h.giveBack(ctx)
		h.mu.Lock()
		h.release = "released"
		if err != nil {
			h.release, h.releaseErr = "failed", err
		}
		h.mu.Unlock()
		h.on(releaseEvent(err))
	}()
}

// giveBack releases the grant. If the answer to its request was lost its token is not known:
// to ask once more with the same grant id gives it, or makes the grant that was not made.
func (h *holding) giveBack(ctx context.Context) error {
	h.mu.Lock()
	token, unsure := h.grant.Token, h.unsure
	r := AcquireRequest{Resource: h.resource, GrantID: h.grantID, Owner: h.owner, TTL: h.timing.TTL}
	h.mu.Unlock()
	if token.IsZero() && !unsure {
		return nil // the answer was that there is no grant
	}
	if token.IsZero() {
		grant, err := h.coordinator.Acquire(ctx, r)
		if err != nil {
			return err
		}
		token = grant.Token
	}
	return h.coordinator.Release(ctx, token)
}

func (h *holding) startWork() {
	h.workCtx, h.cancelWork = context.WithCancelCause(context.WithValue(h.ctx, leaseKey{}, h.lease))
	h.publish()
	if h.observe != nil {
		at := now(h.clock)
		receipt := GrantReceipt{Namespace: h.lease.namespace, Lease: h.lease, Owner: h.owner, Coordinator: h.grant.At,
			Transaction: h.grant.Transaction, Predecessor: h.grant.Predecessor, Guards: len(h.guards), Acquired: at.Sub(h.asked)}
		if p := h.grant.Predecessor; p.End == string(protocol.Expired) {
			// By the coordinator's clock up to the grant, by this one's from then on.
			receipt.TakeoverDelay = max(0, h.grant.At.Sub(p.Ended)) + receipt.Acquired
		}
		tell(h.ctx, h.observe.Grant, receipt)
	}
	close(h.started)
}

// stopWork tells the work to stop. If the caller's context has ended, that told it.
func (h *holding) stopWork() {
	h.stopping = now(h.clock)
	if h.state.Reason != protocol.NotLost {
		h.cancelWork(h.lost())
	}
}

func (h *holding) reportUncertain(uncertain bool) {
	if h.observe == nil || h.lease == nil {
		return
	}
	tell(h.ctx, h.observe.Uncertain, UncertainReceipt{Namespace: h.lease.namespace, Lease: h.lease, Uncertain: uncertain, Cause: h.cause, Jump: h.jump})
}

// end tells the observer that the lease is over.
func (h *holding) end(running bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reportEnd(running)
}

func (h *holding) reportEnd(running bool) {
	if h.observe == nil || h.lease == nil {
		return
	}
	at := now(h.clock)
	r := EndReceipt{Namespace: h.lease.namespace, Lease: h.lease, Reason: lossReasons[h.state.Reason], WorkStillRunning: running,
		Release: h.release, ReleaseErr: h.releaseErr, Held: at.Sub(h.asked), Pause: h.lease.Pause()}
	if r.Reason != "" {
		r.Err = h.last
	}
	if r.Release == "" {
		r.Release = "skipped"
	}
	if h.stopping != 0 {
		r.Drain = at.Sub(h.stopping)
	}
	tell(h.ctx, h.observe.End, r)
}

// An answer is what an error of a coordinator means.
type answer struct {
	err    error
	kind   protocol.EventKind
	reason protocol.Reason
	told   string // the outcome for the observer
}

// match returns the first answer that err matches, or unknown.
func match(err error, answers []answer, unknown answer) answer {
	for _, a := range answers {
		if errors.Is(err, a.err) {
			return a
		}
	}
	return unknown
}

var acquireAnswers = []answer{
	{err: ErrHeld, kind: protocol.AcquireBusy, told: string(AttemptBusy)},
	{err: ErrNotSent, kind: protocol.AcquireNotSent, told: string(AttemptNotSent)},
	{err: ErrRefused, kind: protocol.AcquireRefused, told: string(AttemptRefused)},
	{err: ErrInvalidToken, kind: protocol.AcquireRefused, told: string(AttemptRefused)},
	{err: ErrLeaseExpired, kind: protocol.AcquireOver, told: string(AttemptRefused)},
	{err: ErrReleased, kind: protocol.AcquireOver, told: string(AttemptRefused)},
	{err: ErrSuperseded, kind: protocol.AcquireOver, told: string(AttemptRefused)},
}

func acquireEvent(err error) protocol.Event {
	if err == nil {
		return protocol.Event{Kind: protocol.AcquireGranted}
	}
	event := protocol.Event{Kind: match(err, acquireAnswers, answer{kind: protocol.AcquireUnknown}).kind}
	if held := (*HeldError)(nil); errors.As(err, &held) {
		event.RetryIn = held.FreeIn
	}
	return event
}

func attemptOutcome(kind protocol.EventKind, err error) AttemptOutcome {
	held := (*HeldError)(nil)
	switch {
	case err == nil:
		return AttemptGranted
	case kind == protocol.AcquireBusy && errors.As(err, &held) && held.End != "":
		return AttemptDelayed
	}
	return AttemptOutcome(match(err, acquireAnswers, answer{told: string(AttemptUnknown)}).told)
}

var renewAnswers = []answer{
	{err: ErrNotSent, kind: protocol.RenewNotSent, told: string(RenewNotSent)},
	{err: ErrReleased, kind: protocol.RenewNo, reason: protocol.LostReleased, told: string(RenewReleased)},
	{err: ErrSuperseded, kind: protocol.RenewNo, reason: protocol.LostSuperseded, told: string(RenewSuperseded)},
	{err: ErrLeaseExpired, kind: protocol.RenewNo, reason: protocol.LostExpired, told: string(RenewExpired)},
}

func renewEvent(err error) (protocol.Event, RenewOutcome) {
	if err == nil {
		return protocol.Event{Kind: protocol.RenewOK}, RenewOK
	}
	a := match(err, renewAnswers, answer{kind: protocol.RenewUnknown, told: string(RenewAmbiguous)})
	return protocol.Event{Kind: a.kind, Reason: a.reason}, RenewOutcome(a.told)
}

func releaseEvent(err error) protocol.Event {
	if err == nil {
		return protocol.Event{Kind: protocol.ReleaseOK}
	}
	if a := match(err, renewAnswers, answer{}); a.kind == protocol.RenewNo {
		return protocol.Event{Kind: protocol.ReleaseNo, Reason: a.reason}
	}
	return protocol.Event{Kind: protocol.ReleaseFailed}
}

// raiseKind says what an error of a guard means.
func raiseKind(err error) protocol.EventKind {
	var conflict *ConflictError
	if errors.Is(err, ErrStale) || errors.As(err, &conflict) || errors.Is(err, ErrInvalidToken) || errors.Is(err, ErrWrongResource) {
		return protocol.RaiseRefused
	}
	return protocol.RaiseFailed
}
