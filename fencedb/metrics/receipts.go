package metrics

import (
	"context"
	"errors"
	"time"

	"github.com/fencelint/fence/fencedb"
)

func (r *Recorder) decision(ctx context.Context, d fencedb.Decision) {
	t := r.value(ctx, table, d.Table)
	by := By{d.Presented, d.Grant}
	if d.Result == fencedb.Accepted {
		by = By{} // there are many, of which nobody asks whose they were
	}
	r.add(ctx, GuardChecks, by, t, decisionOf(d))
	if d.Result == fencedb.Stale && d.Current > d.Presented {
		r.sink.Observe(ctx, GuardStaleness, by, float64(d.Current-d.Presented), t)
	}
}

// decisionOf says which value of the label decision d has. A result that it does not know is
// one of a later fencedb, and becomes [Other].
func decisionOf(d fencedb.Decision) string {
	switch d.Result {
	case fencedb.Accepted:
		if d.Operation == "raise" {
			return raised
		}
	case fencedb.Missing: // a row, which is not what "missing" means to who reads a dashboard
		return notFound
	case fencedb.Invalid:
		if d.Presented == 0 {
			return missing
		}
		return malformed
	}
	return string(d.Result)
}

func (r *Recorder) attempt(ctx context.Context, a fencedb.AttemptReceipt) {
	k := r.kind(ctx, a.Namespace, a.Resource)
	r.mu.Lock()
	r.kinds[k] = true
	r.mu.Unlock()

	by := By{Grant: a.GrantID}
	r.add(ctx, LeaseAttempts, by, k.namespace, string(a.Outcome))
	r.regressed(ctx, a.Err, by, k)
}

func (r *Recorder) regressed(ctx context.Context, err error, by By, k kind) {
	var regression *fencedb.RegressionError
	if errors.As(err, &regression) {
		by.Token = regression.Granted
		r.add(ctx, TokenRegressions, by, k.namespace, regression.Source)
	}
}

func (r *Recorder) grant(ctx context.Context, g fencedb.GrantReceipt) {
	t := g.Lease.Token()
	k := r.kind(ctx, g.Namespace, t.Resource())
	window := g.Lease.Remaining()

	r.mu.Lock()
	r.kinds[k] = true
	r.leases[g.Lease] = &lease{kind: k, window: window, suspended: r.suspended}
	r.incarnations[k.namespace] = max(r.incarnations[k.namespace], t.Incarnation())
	r.mu.Unlock()

	if g.TakeoverDelay > 0 {
		r.sink.Observe(ctx, TakeoverDelay, by(g.Lease), g.TakeoverDelay.Seconds(), k.namespace)
	}
}

func (r *Recorder) renew(ctx context.Context, n fencedb.RenewReceipt) {
	ns := r.value(ctx, namespace, n.Namespace)
	r.add(ctx, LeaseRenewals, by(n.Lease), ns, string(n.Outcome))
	if n.Outcome != fencedb.RenewNotSent {
		r.sink.Observe(ctx, RenewalDuration, by(n.Lease), n.Duration.Seconds(), ns)
	}
	if n.Outcome != fencedb.RenewOK {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if l := r.leases[n.Lease]; l != nil {
		l.window = n.Remaining
	}
}

func (r *Recorder) uncertain(ctx context.Context, u fencedb.UncertainReceipt) {
	if !u.Uncertain || u.Cause != "suspend" {
		return // whether a lease is uncertain, it says itself
	}
	if more := r.slept(u); more > 0 {
		r.sink.Add(ctx, SuspendTime, by(u.Lease), more.Seconds())
	}
}

// slept takes a suspension in and returns how much longer than was known until now the system
// was suspended. Each lease of a process tells of the same suspensions, so what counts is the
// sum of what one lease has told of, beginning with what was known when it was granted.
func (r *Recorder) slept(u fencedb.UncertainReceipt) (more time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.leases[u.Lease]
	if l == nil { // its work has not begun
		return 0
	}
	l.suspended += u.Jump
	more = max(0, l.suspended-r.suspended)
	r.suspended += more
	return more
}

func (r *Recorder) end(ctx context.Context, e fencedb.EndReceipt) {
	k := r.kind(ctx, e.Namespace, e.Lease.Token().Resource())
	before := r.over(e, k)

	if e.Reason != "" && !before {
		r.add(ctx, LeaseLosses, by(e.Lease), k.namespace, string(e.Reason))
		r.regressed(ctx, e.Err, by(e.Lease), k)
	}
	if e.WorkStillRunning {
		return
	}
	r.add(ctx, LeaseReleases, by(e.Lease), k.namespace, e.Release)
	if e.Drain > 0 {
		result := inTime
		if before {
			result = overrun
		}
		r.sink.Observe(ctx, DrainDuration, by(e.Lease), e.Drain.Seconds(), k.namespace, result)
	}
}

// over takes e in and tells whether the lease was over before.
func (r *Recorder) over(e fencedb.EndReceipt, k kind) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.leases[e.Lease]
	before := l != nil && l.overrun
	switch {
	case !e.WorkStillRunning:
		delete(r.leases, e.Lease)
	case l == nil: // its grant came before this Recorder
		r.kinds[k] = true
		r.leases[e.Lease] = &lease{kind: k, overrun: true}
	default:
		l.overrun = true
	}
	return before
}

// add counts one. The last of values may be any text; the others are checked already.
func (r *Recorder) add(ctx context.Context, id ID, by By, open, closed string) {
	closed, _ = r.labels.of(catalogue[id].Labels[1], closed)
	r.sink.Add(ctx, id, by, 1, open, closed)
}

// kind returns what the gauges of a lease of resource are labelled with.
func (r *Recorder) kind(ctx context.Context, ns, resource string) kind {
	class, _ := r.labels.of(leaseClass, r.class(resource))
	return kind{r.value(ctx, namespace, ns), class}
}

func by(l *fencedb.Lease) By {
	t := l.Token()
	return By{t.Value(), t.Grant()}
}
