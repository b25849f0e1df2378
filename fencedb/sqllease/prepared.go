package sqllease

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/protocol"
)

// renewPrepared renews by a statement that stays prepared in each connection of the pool. It is
// not done where that is of no use, and where the answer is not a plain yes: then the renewal is
// made as anywhere else, which is no other one.
func (c *Coordinator) renewPrepared(ctx context.Context, args []any) (at time.Time, count int64, done bool, err error) {
	began := time.Now()
	stmt := c.preparedRenewal(ctx)
	if stmt == nil {
		return at, 0, false, nil
	}
	d := departure{ctx: ctx, began: began, value: args[0]}
	var now int64
	rows, err := stmt.QueryContext(ctx, append([]any{&d}, args[1:]...)...)
	if err = oneRow(rows, err, &now, &count); err == nil {
		return protocol.StoreTime(now).Time(), count, true, nil
	}
	if !d.sent {
		if err := late(ctx, began); err != nil {
			return at, 0, true, fmt.Errorf("%w: %w", fencedb.ErrNotSent, err)
		}
		return at, 0, false, nil
	}
	if errors.Is(err, sql.ErrNoRows) || faultOf(c.name, err) == missing {
		return at, 0, false, nil
	}
	return at, 0, true, c.classified(err)
}

// preparedRenewal returns the renewal as it is prepared, and nil if it is not to be, or not yet.
func (c *Coordinator) preparedRenewal(ctx context.Context) *sql.Stmt {
	if stmt := c.renewal.Load(); stmt != nil {
		return stmt
	}
	s := c.ready.Load()
	if s == nil || !c.dialect.prepare {
		return nil
	}
	stmt, err := c.db.PrepareContext(ctx, s.renew)
	if err != nil {
		return nil // what is wrong is found out, and told, without
	}
	if !c.renewal.CompareAndSwap(nil, stmt) {
		_ = stmt.Close() // another call has prepared it
		return c.renewal.Load()
	}
	// A program may make any number of coordinators for one pool.
	runtime.AddCleanup(c, func(stmt *sql.Stmt) { _ = stmt.Close() }, stmt)
	return stmt
}

// A departure is the first argument of a statement, and notes that it is sent: database/sql asks
// for its value once it has a connection.
type departure struct {
	ctx   context.Context
	began time.Time
	value any
	sent  bool
}

// Value implements [driver.Valuer].
func (d *departure) Value() (driver.Value, error) {
	if err := late(d.ctx, d.began); err != nil {
		return nil, err
	}
	d.sent = true
	return d.value, nil
}

// over tells whether the time of ctx has run out, also if ctx itself does not say so yet: that of
// a process that was stopped.
func over(ctx context.Context) bool {
	end, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && !time.Now().Before(end)
}

// late says why nothing is sent any more, since a connection was waited for from began on, until
// hardly any time of ctx was left.
func late(ctx context.Context, began time.Time) error {
	if over(ctx) {
		return fmt.Errorf("no connection: %w", cmp.Or(ctx.Err(), context.DeadlineExceeded))
	}
	end, ok := ctx.Deadline()
	if !ok {
		return nil
	}
	waited, left := time.Since(began), time.Until(end)
	if float64(left) >= unsent*float64(waited+left) {
		return nil
	}
	return fmt.Errorf("no connection for %v, and %v are left: the pool is too small for its work, or to connect takes too long", waited, left)
}
