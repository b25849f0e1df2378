package sqllease

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/protocol"
)

// A Coordinator grants the leases of one namespace in a database. Any number of goroutines
// may use one, and any number of processes one database; each call takes one connection of
// the pool, and sends nothing if it had to wait for that until less than an eighth of its time is
// left: to connect has to fit into the attempt timeout of [fencedb.Hold].
//
// The server gives up a transaction whose client does not go on, and a wait for a row, after what
// is left of the call's context, 30 seconds if it has no deadline, each by itself: a process that is
// stopped within a grant keeps others from theirs for that long, or twice as long if it was waiting
// itself. MariaDB and MySQL count in whole seconds. SQLite has no server, so there a process that
// is stopped within a write keeps out all others until it goes on.
//
// It starts no goroutine that outlives its calls, apart from one whose driver does not listen to a
// context that has ended, and one that puts the settings of its connection back, for up to a second.
type Coordinator struct {
	db        *sql.DB
	name      fencedb.Dialect
	dialect   *dialect
	schema    string
	tables    *strings.Replacer
	namespace string

	ready   atomic.Pointer[statements] // once the schema was found to be the right one
	renewal atomic.Pointer[sql.Stmt]   // where statements are prepared
	seen    atomic.Int64               // the largest token of the namespace that was committed
}

var _ fencedb.Coordinator = (*Coordinator)(nil)

// An Option changes what [New] makes.
type Option func(*Coordinator)

// Namespace names the resources that share one counter: "default" without it. The name has
// the grammar of resources, see [fencedb.Token]. A resource belongs to one namespace.
func Namespace(name string) Option { return func(c *Coordinator) { c.namespace = name } }

// InSchema names the schema (in MariaDB and MySQL the database) of the tables. Without it
// the connection decides: on PostgreSQL by its search_path. SQLite has none.
func InSchema(name string) Option { return func(c *Coordinator) { c.schema = name } }

// New returns a coordinator in db, whose driver speaks the dialect. It does not connect. A
// dialect that does not exist and names outside their grammar are errors that match
// [fencedb.ErrRefused].
func New(db *sql.DB, d fencedb.Dialect, opts ...Option) (*Coordinator, error) {
	c := &Coordinator{db: db, name: d, dialect: dialects[d], namespace: "default"}
	for _, o := range opts {
		o(c)
	}
	if db == nil {
		return nil, refused("sqllease: there is no *sql.DB")
	}
	if c.dialect == nil {
		return nil, refused("sqllease: no dialect is called %q", string(d))
	}
	if c.schema != "" && d == fencedb.SQLite {
		return nil, refused("sqllease: SQLite has no schema %q: open the file itself", c.schema)
	}
	if _, err := fencedb.ExternalToken(c.namespace, 1); err != nil {
		return nil, refused("sqllease: namespace %q: %w", c.namespace, err)
	}
	tables, err := names(d, c.schema)
	if err != nil {
		return nil, refused("sqllease: %w", err)
	}
	c.tables = tables
	return c, nil
}

// Namespace implements [fencedb.Coordinator].
func (c *Coordinator) Namespace() string { return c.namespace }

// see takes in a token that was committed.
func (c *Coordinator) see(value int64) {
	for {
		old := c.seen.Load()
		next, regressed := protocol.Watermark(old).See(value)
		if regressed || c.seen.CompareAndSwap(old, int64(next)) {
			return
		}
	}
}

// A session is one connection of the pool, for one call.
type session struct {
	*Coordinator
	*statements
	conn *sql.Conn
	sent bool // something that may change the database has been sent
}

const (
	// attempts is how often a call is sent when the database certainly did nothing, or the
	// connection had been closed. Each request may be made again.
	attempts = 3
	// grace is how long a call waits for its driver after its context has ended. Most
	// listen, and then nothing is left running.
	grace = 100 * time.Millisecond
	// unsent is the part of a call's time that has to be left once it has a connection. With
	// less, most answers would come too late, which leaves more in doubt than not to ask.
	unsent = 1.0 / 8
	// patience is what a transaction's waits are limited to if its context does not end.
	patience = 30 * time.Second
)

// direct runs fn, which sends statements one by one, with a connection. Drivers listen to the
// context of a statement.
func direct[T any](ctx context.Context, c *Coordinator, what string, fn func(context.Context, *session) (T, error)) (T, error) {
	value, err := try(ctx, c, fn)
	return value, about(what, err)
}

// about says what failed, unless the error is an answer, which does so itself.
func about(what string, err error) error {
	if err == nil || decided(err) {
		return err
	}
	return fmt.Errorf("sqllease: %s: %w", what, err)
}

// inBackground runs fn, which needs a transaction, with a connection, and returns soon after
// ctx has ended, whatever the driver does: some commit and roll back without listening to a
// context. It is not for renewals: to change goroutines twice costs more than a statement if
// the machine is busy.
func inBackground[T any](ctx context.Context, c *Coordinator, what string, fn func(context.Context, *session) (T, error)) (T, error) {
	type outcome struct {
		value    T
		err      error
		panicked any
	}
	done := make(chan outcome, 1)
	go func() {
		out := outcome{err: errors.New("sqllease: a guard ended its goroutine")}
		defer func() {
			out.panicked = recover()
			done <- out
		}()
		out.value, out.err = try(ctx, c, fn)
	}()
	var out outcome
	select {
	case out = <-done:
	case <-ctx.Done():
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case out = <-done:
		case <-timer.C:
			out.err = fmt.Errorf("the database has not answered: %w", ctx.Err())
		}
	}
	if out.panicked != nil {
		panic(out.panicked) // of a guard: in the goroutine of who named it
	}
	return out.value, about(what, out.err)
}

// try runs fn until it succeeds, or fails in a way that trying at once does not mend.
func try[T any](ctx context.Context, c *Coordinator, fn func(context.Context, *session) (T, error)) (value T, err error) {
	sent := false
	for range attempts {
		s := &session{Coordinator: c, sent: sent}
		value, err = once(ctx, s, fn)
		sent = s.sent
		retry := errors.Is(err, driver.ErrBadConn) || errors.Is(err, fencedb.ErrRetryable) && faultOf(c.name, err) == again
		if !retry || over(ctx) {
			break
		}
	}
	if err != nil && !sent && !decided(err) {
		err = fmt.Errorf("%w: %w", fencedb.ErrNotSent, err)
	}
	return value, err
}

// decided tells whether an error is an answer.
func decided(err error) bool {
	for _, answer := range []error{fencedb.ErrHeld, fencedb.ErrRefused, fencedb.ErrLeaseExpired, fencedb.ErrReleased, fencedb.ErrSuperseded} {
		if errors.Is(err, answer) {
			return true
		}
	}
	return false
}

// once runs fn with a connection.
func once[T any](ctx context.Context, s *session, fn func(context.Context, *session) (T, error)) (value T, err error) {
	began := time.Now()
	s.conn, err = s.db.Conn(ctx)
	if err != nil {
		return value, fmt.Errorf("no connection: %w", err)
	}
	defer func() { _ = s.conn.Close() }() // gives it back; what is wrong with it is in err
	if err := late(ctx, began); err != nil {
		return value, err
	}
	if s.statements, err = s.check(ctx, s.conn); err != nil {
		return value, err
	}
	value, err = fn(ctx, s)
	if err == nil || decided(err) {
		return value, err
	}
	if faultOf(s.name, err) == missing {
		// Somebody has changed the tables since they were looked at.
		s.ready.Store(nil)
		var schema *SchemaError
		if _, other := s.check(ctx, s.conn); errors.As(other, &schema) {
			return value, schema
		}
	}
	return value, s.classified(err)
}

// classified makes an error match [fencedb.ErrRetryable] if the database certainly did nothing.
func (c *Coordinator) classified(err error) error {
	switch faultOf(c.name, err) {
	case again, busy:
		return fmt.Errorf("%w: %w", fencedb.ErrRetryable, err)
	}
	return err
}

// row reads the one row of a query.
func (c *Coordinator) row(ctx context.Context, x fencedb.Execer, text string, args []any, dest ...any) error {
	rows, err := c.query(ctx, x, text, args)
	return oneRow(rows, err, dest...)
}

// rows reads all rows of a query.
func (c *Coordinator) rows(ctx context.Context, x fencedb.Execer, text string, args []any, each func(*sql.Rows) error) error {
	rows, err := c.query(ctx, x, text, args)
	return eachRow(rows, err, each)
}

// query sends a query.
func (c *Coordinator) query(ctx context.Context, x fencedb.Execer, text string, args []any) (*sql.Rows, error) {
	text, args, err := c.dialect.arguments(text, args)
	if err != nil {
		return nil, err
	}
	return x.QueryContext(ctx, text, args...)
}

// oneRow reads the one row of what a query returned.
func oneRow(rows *sql.Rows, err error, dest ...any) error {
	found := false
	err = eachRow(rows, err, func(rows *sql.Rows) error {
		if found {
			return nil
		}
		found = true
		return rows.Scan(dest...)
	})
	if err == nil && !found {
		err = sql.ErrNoRows
	}
	return err
}

// eachRow reads all rows of what a query returned: a statement that changes something has changed
// it only when it was read to its end.
func eachRow(rows *sql.Rows, err error, each func(*sql.Rows) error) error {
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // once more, after an error of each
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}

// exec runs a statement.
func (c *Coordinator) exec(ctx context.Context, x fencedb.Execer, text string, args ...any) (sql.Result, error) {
	text, args, err := c.dialect.arguments(text, args)
	if err != nil {
		return nil, err
	}
	return x.ExecContext(ctx, text, args...)
}

// inLimits runs fn in a transaction within the limits of the dialect.
func (c *Coordinator) inLimits(ctx context.Context, conn *sql.Conn, fn func(*sql.Tx) error) error {
	limited := false
	defer func() {
		if limited {
			c.unlimit(ctx, conn)
		}
	}()
	return c.inTx(ctx, conn, func(tx *sql.Tx) error {
		limited = true
		if err := c.limit(ctx, tx); err != nil {
			return err
		}
		return fn(tx)
	})
}

// inTx runs fn in a transaction.
func (c *Coordinator) inTx(ctx context.Context, conn *sql.Conn, fn func(*sql.Tx) error) error {
	// Rows that do not match are not kept locked, and a statement sees what was committed
	// while it waited.
	opts := &sql.TxOptions{Isolation: sql.LevelReadCommitted}
	if c.name == fencedb.SQLite {
		opts = nil
	}
	tx, err := conn.BeginTx(ctx, opts)
	if err != nil {
		return fmt.Errorf("beginning: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	if err := fn(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		discard(conn) // SQLite's transaction may still be open
		return fmt.Errorf("committing: %w", err)
	}
	return nil
}

// limit limits a transaction to what is left of ctx, each wait by itself.
func (c *Coordinator) limit(ctx context.Context, tx *sql.Tx) error {
	l := c.dialect.limits
	if l.set == "" {
		return nil
	}
	left := patience
	if end, ok := ctx.Deadline(); ok {
		left = min(max(time.Until(end), l.unit), protocol.MaxTTL)
	}
	if _, err := c.exec(ctx, tx, l.set, int64((left+l.unit-1)/l.unit)); err != nil {
		return fmt.Errorf("limiting the transaction: %w", err)
	}
	return nil
}

// unlimit undoes limit, or gives the connection up: others of the program may use it.
func (c *Coordinator) unlimit(ctx context.Context, conn *sql.Conn) {
	l := c.dialect.limits
	if l.reset == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if _, err := c.exec(ctx, conn, l.reset); err != nil {
		discard(conn)
	}
}

// discard closes a connection that no longer is as it was when the pool gave it.
func discard(conn *sql.Conn) { _ = conn.Raw(func(any) error { return driver.ErrBadConn }) }

// time reads the time.
func (s *session) time(ctx context.Context, x fencedb.Execer) (protocol.StoreTime, error) {
	var now int64
	if err := s.row(ctx, x, s.now, nil, &now); err != nil {
		return 0, fmt.Errorf("reading the time: %w", err)
	}
	return protocol.StoreTime(now), nil
}
