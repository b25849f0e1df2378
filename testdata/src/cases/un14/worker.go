// Package un14 recognises text on scans; jobs are claimed per attempt.
package un14

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

type Recogniser interface {
	RecognisePage(ctx context.Context, input string, page int) (text string, more bool, err error)
}

type Worker struct {
	st *store
	r  Recogniser
}

// One works on one job; it reports false if there was none.
func (w *Worker) One(ctx context.Context) (bool, error) {
	a, err := w.st.claim(ctx)
	if err != nil || a == nil {
		return false, err
	}
	var out string
	for page := 0; ; page++ {
		if err := w.st.extend(ctx, a); err != nil {
			return true, fmt.Errorf("job %d: %w", a.ID, err)
		}
		pctx, cancel := context.WithDeadline(ctx, a.until)
		text, more, err := w.r.RecognisePage(pctx, a.Input, page)
		cancel()
		if err != nil {
			return true, err
		}
		out += text
		if !more {
			break
		}
	}
	return true, w.st.finish(ctx, a, out)
}

// Loop works until ctx ends.
func (w *Worker) Loop(ctx context.Context) {
	for ctx.Err() == nil {
		found, err := w.One(ctx)
		switch {
		case errors.Is(err, ErrLost):
			slog.Info("attempt went elsewhere", "err", err)
		case err != nil:
			slog.Error("ocr", "err", err)
		case found:
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(2 * time.Second):
		}
	}
}
