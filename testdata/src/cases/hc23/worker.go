package hc23

import (
	"context"
	"sync"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/jmoiron/sqlx"
)

type Reports struct {
	rs *redsync.Redsync
	db *sqlx.DB
}

// Build takes one lock and lets several goroutines fill the report.
func (r *Reports) Build(ctx context.Context, id int64, parts []string) (err error) {
	mu := r.rs.NewMutex("report", redsync.WithExpiry(20*time.Second), redsync.WithTries(1))
	if err = mu.TryLockContext(ctx); err != nil {
		return err
	}
	defer func() {
		if _, uerr := mu.UnlockContext(ctx); err == nil {
			err = uerr
		}
	}()
	var wg sync.WaitGroup
	errs := make(chan error, len(parts))
	for _, p := range parts {
		wg.Add(1)
		go func() {
			defer wg.Done()
			errs <- r.fill(ctx, id, p)
		}()
	}
	wg.Wait()
	close(errs)
	for e := range errs {
		if e != nil {
			return e
		}
	}
	return nil
}

func (r *Reports) fill(ctx context.Context, id int64, part string) error {
	_, err := r.db.ExecContext(ctx, r.db.Rebind(`UPDATE report_parts SET body = ? WHERE report_id = ? AND part = ?`), render(part), id, part) // want:C
	return err
}

func render(p string) string { return "<p>" + p + "</p>" }
