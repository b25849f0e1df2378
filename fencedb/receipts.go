package fencedb

import (
	"context"
	"log/slog"
	"strconv"
	"time"
)

type operationKey struct{}

// WithOperation returns a context whose receipts name the operation, in the program's own
// words: "order:2026-07-20". Without it they name what compared: "enter", "update".
func WithOperation(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, operationKey{}, name)
}

// LogReceipts returns an Observer that writes every receipt to l, as one record with the
// attribute event:
//
//	fence.grant      info   a lease is held: who, by which transaction, after whom
//	fence.write      debug  a write under a lease: which grant sent it, when that was renewed last, how long it stood still
//	fence.decision   debug  what a guard, or a row, made of a token; warn if it was rejected, error if nothing was decided
//	fence.attempt    debug  an answer to a request for a grant; warn if asking again does not help
//	fence.renewal    debug  a renewal; warn unless it was carried out
//	fence.uncertain  warn   it is not certain that a lease is held; info when it is again
//	fence.end        info   a lease is over; warn if it was lost, or its work still runs
//
// Times are of the coordinator's clock, in UTC; durations of this process's.
func LogReceipts(l *slog.Logger) *Observer {
	log := receiptLog{l}
	return &Observer{Decision: log.decision, Attempt: log.attempt, Grant: log.grant, Renew: log.renew, Uncertain: log.uncertain, End: log.end}
}

type receiptLog struct{ *slog.Logger }

func (l receiptLog) write(ctx context.Context, level slog.Level, event string, attrs ...slog.Attr) {
	l.LogAttrs(ctx, level, event, append([]slog.Attr{slog.String("event", event)}, attrs...)...)
}

// about are the attributes of a lease.
func (l *Lease) about() []slog.Attr {
	return []slog.Attr{slog.String("namespace", l.namespace), slog.String("resource", l.token.Resource()), slog.String("owner", l.owner),
		slog.Int64("token", l.token.Value()), slog.String("grant", l.token.Grant())}
}

// warnIf is warn for what people have to see.
func warnIf(bad bool, otherwise slog.Level) slog.Level {
	if bad {
		return slog.LevelWarn
	}
	return otherwise
}

func (l receiptLog) decision(ctx context.Context, d Decision) {
	operation, named := ctx.Value(operationKey{}).(string)
	if !named {
		operation = d.Operation
	}
	about := []slog.Attr{slog.String("resource", d.Resource), slog.String("operation", operation), slog.String("action", d.Operation),
		slog.String("table", d.Table), slog.String("grant", d.Grant)}
	if d.Key != "" {
		about = append(about, slog.String("key", d.Key))
	}
	if lease, ok := LeaseFrom(ctx); ok && d.Operation != "raise" && l.Enabled(ctx, slog.LevelDebug) {
		l.write(ctx, slog.LevelDebug, "fence.write", append([]slog.Attr{slog.String("owner", lease.owner), slog.Int64("token", d.Presented),
			slog.Time("granted", lease.granted), slog.Time("renewed", lease.Renewed()), slog.Duration("remaining", lease.Remaining()),
			slog.Duration("pause", lease.Pause())}, about...)...)
	}
	level := warnIf(d.Result != Accepted, slog.LevelDebug)
	if d.Result == Failed {
		level = slog.LevelError
	}
	about = append(about, slog.Int64("received", d.Presented), slog.String("result", string(d.Result)))
	if d.Current != 0 {
		about = append(about, slog.String("expected", ">= "+strconv.FormatInt(d.Current, 10)))
	}
	l.write(ctx, level, "fence.decision", about...)
}

func (l receiptLog) attempt(ctx context.Context, r AttemptReceipt) {
	attrs := []slog.Attr{slog.String("namespace", r.Namespace), slog.String("resource", r.Resource), slog.String("owner", r.Owner),
		slog.String("grant", r.GrantID), slog.String("outcome", string(r.Outcome)), slog.Duration("duration", r.Duration)}
	l.write(ctx, warnIf(r.Outcome == AttemptRefused, slog.LevelDebug), "fence.attempt", withError(attrs, r.Err)...)
}

func (l receiptLog) grant(ctx context.Context, r GrantReceipt) {
	attrs := append(r.Lease.about(), slog.Time("coordinator_time", r.Coordinator), slog.Int("guards", r.Guards), slog.Bool("unguarded", r.Guards == 0))
	if r.Transaction != "" {
		attrs = append(attrs, slog.String("grant_transaction", r.Transaction))
	}
	if p := r.Predecessor; p.Value != 0 {
		attrs = append(attrs, slog.Group("predecessor", slog.Int64("token", p.Value), slog.String("owner", p.Owner), slog.String("end", p.End),
			slog.Time("renewed", p.Renewed), slog.Time("ended", p.Ended)))
	}
	if r.TakeoverDelay > 0 {
		attrs = append(attrs, slog.Duration("takeover_delay", r.TakeoverDelay))
	}
	l.write(ctx, slog.LevelInfo, "fence.grant", attrs...)
}

func (l receiptLog) renew(ctx context.Context, r RenewReceipt) {
	attrs := append(r.Lease.about(), slog.String("outcome", string(r.Outcome)), slog.Duration("duration", r.Duration), slog.Duration("remaining", r.Remaining))
	if r.Outcome == RenewOK {
		attrs = append(attrs, slog.Time("coordinator_time", r.Coordinator), slog.Int64("renewals", r.Count))
	}
	l.write(ctx, warnIf(r.Outcome != RenewOK, slog.LevelDebug), "fence.renewal", withError(attrs, r.Err)...)
}

func (l receiptLog) uncertain(ctx context.Context, r UncertainReceipt) {
	attrs := append(r.Lease.about(), slog.Bool("uncertain", r.Uncertain), slog.String("cause", r.Cause))
	if r.Jump != 0 {
		attrs = append(attrs, slog.Duration("jump", r.Jump))
	}
	l.write(ctx, warnIf(r.Uncertain, slog.LevelInfo), "fence.uncertain", attrs...)
}

func (l receiptLog) end(ctx context.Context, r EndReceipt) {
	attrs := append(r.Lease.about(), slog.Bool("work_still_running", r.WorkStillRunning), slog.String("release", r.Release),
		slog.Duration("held", r.Held.Round(time.Millisecond)), slog.Duration("pause", r.Pause))
	if r.Reason != "" {
		attrs = append(attrs, slog.String("reason", string(r.Reason)))
	}
	if r.Err != nil {
		attrs = append(attrs, slog.String("last_error", r.Err.Error()))
	}
	if r.Drain != 0 {
		attrs = append(attrs, slog.Duration("drain", r.Drain))
	}
	l.write(ctx, warnIf(r.Reason != "" || r.WorkStillRunning || r.ReleaseErr != nil, slog.LevelInfo), "fence.end", withError(attrs, r.ReleaseErr)...)
}

func withError(attrs []slog.Attr, err error) []slog.Attr {
	if err == nil {
		return attrs
	}
	return append(attrs, slog.String("error", err.Error()))
}
