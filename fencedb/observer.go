package fencedb

import (
	"context"
	"errors"
	"log/slog"
)

// A Result is how a write that compares, or a guard, decided.
type Result string

// The results. Each but Accepted and Failed is one of this package's errors.
const (
	Accepted      Result = "accepted"
	Stale         Result = "stale"          // ErrStale
	Conflict      Result = "conflict"       // *ConflictError
	Missing       Result = "missing"        // ErrNotFound
	NotGranted    Result = "not_granted"    // ErrNotGranted
	WrongResource Result = "wrong_resource" // ErrWrongResource
	Invalid       Result = "invalid_token"  // ErrInvalidToken
	Failed        Result = "failed"         // the database's error: nothing was decided
)

// ResultOf returns the Result that an error of this package stands for: Accepted for
// nil, Failed for any other.
func ResultOf(err error) Result {
	var conflict *ConflictError
	switch {
	case err == nil:
		return Accepted
	case errors.Is(err, ErrStale):
		return Stale
	case errors.As(err, &conflict):
		return Conflict
	case errors.Is(err, ErrNotFound):
		return Missing
	case errors.Is(err, ErrNotGranted):
		return NotGranted
	case errors.Is(err, ErrWrongResource):
		return WrongResource
	case errors.Is(err, ErrInvalidToken):
		return Invalid
	}
	return Failed
}

// A Decision is the receipt of one comparison of a token: what a guard, or a row, made
// of a write, or of a raise.
type Decision struct {
	Operation string // "enter", "raise", "update", ...
	Table     string // the table that compared
	Key       string // the row, as "id=7"; empty for a guard
	Resource  string // of the token
	Presented int64  // the value of the token that was presented
	Grant     string // its grant id
	Current   int64  // the value it was compared with, 0 if it is not known
	Result    Result
}

// An Observer is told of what happens. Nil functions are not called. They are called
// in the goroutine that does the work, in order, often within a transaction: they have
// to return at once and must not panic. Any number of goroutines may use one Observer
// if its functions allow it. A nil *Observer observes nothing.
type Observer struct {
	// Decision is called for every decision once it is known. A write that was
	// accepted counts only when its transaction is committed, which comes later.
	Decision func(context.Context, Decision)
}

// Decide tells the observer of a decision. Generated writers call it.
func (o *Observer) Decide(ctx context.Context, d Decision) {
	if o != nil && o.Decision != nil {
		o.Decision(ctx, d)
	}
}

// LogDecisions returns an Observer that writes decisions to l: what was accepted at
// level debug, what was rejected at level warn, what failed at level error. The
// attributes are resource, token, grant, operation, table, key, current and result.
func LogDecisions(l *slog.Logger) *Observer {
	return &Observer{Decision: func(ctx context.Context, d Decision) {
		level := slog.LevelWarn
		switch d.Result {
		case Accepted:
			level = slog.LevelDebug
		case Failed:
			level = slog.LevelError
		}
		attrs := []slog.Attr{
			slog.String("resource", d.Resource), slog.Int64("token", d.Presented), slog.String("grant", d.Grant),
			slog.String("operation", d.Operation), slog.String("table", d.Table), slog.String("result", string(d.Result)),
		}
		if d.Key != "" {
			attrs = append(attrs, slog.String("key", d.Key))
		}
		if d.Current != 0 {
			attrs = append(attrs, slog.Int64("current", d.Current))
		}
		l.LogAttrs(ctx, level, "fence decision", attrs...)
	}}
}
