package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/fencedbtest"
	pgxwriters "github.com/fencelint/fence/fencedb/storetest/writers/pgx"
	"github.com/fencelint/fence/fencedb/storetest/writers/pgxtypes"
)

// What row writers and scopes are for.
var (
	_ pgxwriters.Execer   = (*pgxpool.Pool)(nil)
	_ pgxwriters.Execer   = (*pgxpool.Conn)(nil)
	_ pgxwriters.Execer   = (*pgx.Conn)(nil)
	_ pgxwriters.Execer   = pgx.Tx(nil)
	_ pgxwriters.Beginner = (*pgxpool.Pool)(nil)
	_ pgxwriters.Beginner = (*pgxpool.Conn)(nil)
	_ pgxwriters.Beginner = (*pgx.Conn)(nil)
)

// pool is a pool of pgx to the database that db is connected to.
func (db database) pool(t testing.TB) *pgxpool.Pool {
	t.Helper()
	var source string
	ctx := context.Background()
	conn, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Raw(func(c any) error {
		source = c.(*stdlib.Conn).Conn().Config().ConnString()
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	pool, err := pgxpool.New(ctx, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// pgxTx is a transaction of pgx. Nothing is run on the Execer.
type pgxTx struct {
	fencedb.Execer
	pgx.Tx
	ctx context.Context
}

func (tx pgxTx) Commit() error   { return tx.Tx.Commit(tx.ctx) }
func (tx pgxTx) Rollback() error { return tx.Tx.Rollback(tx.ctx) }

// pgxWriters are the writers for pgx: they write to pool, or to a pgxTx.
func pgxWriters(pool *pgxpool.Pool) writerSet {
	on := func(db fencedb.Execer) pgxwriters.Execer {
		if tx, ok := db.(pgxTx); ok {
			return tx.Tx
		}
		return pool
	}
	return writerSet{
		docs: func(db fencedb.Execer, t fencedb.Token) rows[docsKey, docsRow, docsPatch] {
			return as[pgxwriters.DocsKey, pgxwriters.DocsRow, pgxwriters.DocsPatch, docsKey, docsRow, docsPatch]{pgxwriters.NewDocsWriter(on(db), t), func(k docsKey) pgxwriters.DocsKey { return k }, func(r docsRow) pgxwriters.DocsRow { return r }, func(c docsPatch) pgxwriters.DocsPatch { return c }}
		},
		tasks: func(db fencedb.Execer, t fencedb.Token) rows[docsKey, stateRow, statePatch] {
			return as[pgxwriters.TasksKey, pgxwriters.TasksRow, pgxwriters.TasksPatch, docsKey, stateRow, statePatch]{pgxwriters.NewTasksWriter(on(db), t), func(k docsKey) pgxwriters.TasksKey { return k }, func(r stateRow) pgxwriters.TasksRow { return r }, func(c statePatch) pgxwriters.TasksPatch { return c }}
		},
		claims: func(db fencedb.Execer, t fencedb.Token) rows[docsKey, stateRow, statePatch] {
			return as[pgxwriters.ClaimsKey, pgxwriters.ClaimsRow, pgxwriters.ClaimsPatch, docsKey, stateRow, statePatch]{pgxwriters.NewClaimsWriter(on(db), t), func(k docsKey) pgxwriters.ClaimsKey { return k }, func(r stateRow) pgxwriters.ClaimsRow { return r }, func(c statePatch) pgxwriters.ClaimsPatch { return c }}
		},
		cells: func(db fencedb.Execer, t fencedb.Token) rows[cellsKey, cellsRow, cellsPatch] {
			return as[pgxwriters.CellsKey, pgxwriters.CellsRow, pgxwriters.CellsPatch, cellsKey, cellsRow, cellsPatch]{pgxwriters.NewCellsWriter(on(db), t), func(k cellsKey) pgxwriters.CellsKey { return k }, func(r cellsRow) pgxwriters.CellsRow { return r }, func(c cellsPatch) pgxwriters.CellsPatch { return c }}
		},
		inScope: func(ctx context.Context, _ fencedb.Beginner, t fencedb.Token, fn func(scope) error) error {
			return pgxwriters.InScope(ctx, pool, t, func(tx *pgxwriters.Tx) error { return fn(pgxScope(tx)) })
		},
		begin: func(ctx context.Context) (transaction, error) {
			tx, err := pool.Begin(ctx)
			return pgxTx{nil, tx, ctx}, err
		},
		enter: func(ctx context.Context, tx transaction, t fencedb.Token) (scope, error) {
			entered, err := pgxwriters.Enter(ctx, tx.(pgxTx).Tx, t)
			if err != nil {
				return scope{}, err
			}
			return pgxScope(entered), nil
		},
		guard: func(fencedb.Beginner) fencedb.Guard { return pgxwriters.Guard(pool) },
	}
}

func pgxScope(tx *pgxwriters.Tx) scope {
	return scope{
		as[pgxwriters.NotesKey, pgxwriters.NotesRow, pgxwriters.NotesPatch, docsKey, notesRow, notesPatch]{tx.Notes(), func(k docsKey) pgxwriters.NotesKey { return k }, func(r notesRow) pgxwriters.NotesRow { return r }, func(c notesPatch) pgxwriters.NotesPatch { return c }},
		as[pgxwriters.LinesKey, pgxwriters.LinesRow, pgxwriters.LinesPatch, docsKey, linesRow, linesPatch]{tx.Lines(), func(k docsKey) pgxwriters.LinesKey { return k }, func(r linesRow) pgxwriters.LinesRow { return r }, func(c linesPatch) pgxwriters.LinesPatch { return c }},
		func(ctx context.Context) (eventsKey, error) {
			k, err := tx.Events().Insert(ctx, pgxwriters.EventsRow{})
			return k, err
		},
	}
}

// A transaction of somebody else's is none of one's own.
func TestPgxTxIsNoBeginner(t *testing.T) {
	for _, tx := range []reflect.Type{reflect.TypeFor[pgx.Tx](), reflect.TypeFor[*pgxpool.Tx]()} {
		if tx.Implements(reflect.TypeFor[pgxwriters.Beginner]()) {
			t.Errorf("%v is a Beginner", tx)
		}
	}
}

// eachMode runs test on writers for pgx that send statements in each of its ways.
func eachMode(t *testing.T, test func(t *testing.T, db database, pool *pgxpool.Pool)) {
	for _, mode := range []string{"cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol"} {
		t.Run(mode, func(t *testing.T) {
			own, connect := servers[0].open(t).withTables(t, "")
			test(t, own, connect("&TimeZone=UTC&default_query_exec_mode="+mode).pool(t))
		})
	}
}

func TestPgxBatches(t *testing.T) {
	eachMode(t, func(t *testing.T, db database, pool *pgxpool.Pool) {
		ctx := t.Context()
		var told []string
		watch := pgxwriters.ObservedBy(&fencedb.Observer{Decision: func(_ context.Context, d fencedb.Decision) { told = append(told, d.Key+" "+string(d.Result)) }})
		docs := func(n int64) *pgxwriters.DocsWriter {
			return pgxwriters.NewDocsWriter(pool, fencedbtest.Token("docs", n), watch)
		}
		expect := func(what string, outcomes []error, err error, failed string, results ...fencedb.Result) {
			t.Helper()
			var got []fencedb.Result
			for _, o := range outcomes {
				got = append(got, fencedb.ResultOf(o))
			}
			if !reflect.DeepEqual(got, results) || (err == nil) != (failed == "") || err != nil && !strings.Contains(err.Error(), failed) {
				t.Errorf("%s: %v, %v; want %v, %q", what, outcomes, err, results, failed)
			}
		}
		n := func() (n int64) {
			t.Helper()
			if err := db.QueryRow("SELECT sum(n) FROM docs").Scan(&n); err != nil {
				t.Error(err)
			}
			return n
		}
		outcomes, err := docs(5).UpsertBatch(ctx, []pgxwriters.DocsRow{{ID: "a", N: 1}, {ID: "b", N: 2}, {ID: "a", N: 3}})
		expect("upserts, one of them of a row before it", outcomes, err, "", fencedb.Accepted, fencedb.Accepted, fencedb.Accepted)
		if n() != 5 {
			t.Errorf("the sum is %d after the upserts, want 5", n())
		}
		if err := docs(9).Update(ctx, pgxwriters.DocsKey{ID: "b"}, pgxwriters.DocsPatch{}); err != nil {
			t.Fatal(err)
		}
		told = nil
		set := func(n int64) pgxwriters.DocsPatch { return pgxwriters.DocsPatch{N: fencedb.Set(n)} }
		outcomes, err = docs(6).UpdateBatch(ctx, []pgxwriters.DocsChange{{Key: pgxwriters.DocsKey{ID: "a"}, Patch: set(10)}, {Key: pgxwriters.DocsKey{ID: "b"}, Patch: set(20)}, {Key: pgxwriters.DocsKey{ID: "c"}, Patch: set(30)}})
		expect("updates", outcomes, err, "", fencedb.Accepted, fencedb.Stale, fencedb.Missing)
		var stale *fencedb.StaleError
		if len(outcomes) > 1 && (!errors.As(outcomes[1], &stale) || stale.Current != 9 || stale.Key != "id=b") {
			t.Errorf("the stale one: %#v", stale)
		}
		if got := strings.Join(told, ", "); got != "id=a accepted, id=b stale, id=c missing" {
			t.Errorf("the observer was told %s", got)
		}
		outcomes, err = docs(6).UpsertBatch(ctx, nil)
		expect("nothing", outcomes, err, "")
		// A key that is too long is an error of the database. Nothing of the batch stays.
		before, long := n(), strings.Repeat("x", 65)
		outcomes, err = docs(6).UpsertBatch(ctx, []pgxwriters.DocsRow{{ID: "a", N: 100}, {ID: long, N: 100}, {ID: "e", N: 100}})
		expect("with a failure", outcomes, err, "item 2 of 3: upsert of docs id="+long)
		if n() != before {
			t.Errorf("the sum is %d after a batch that failed, want %d", n(), before)
		}
		outcomes, err = pgxwriters.NewDocsWriter(pool, fencedb.Token{}).DeleteBatch(ctx, []pgxwriters.DocsKey{{ID: "a"}})
		expect("zero token", outcomes, err, "", fencedb.Invalid)
		outcomes, err = docs(6).DeleteBatch(ctx, []pgxwriters.DocsKey{{ID: "a"}, {ID: "a"}, {ID: "b"}})
		expect("deletes", outcomes, err, "", fencedb.Accepted, fencedb.Missing, fencedb.Stale)

		token := fencedbtest.Token("region:eu", 1)
		if err := pgxwriters.Guard(pool).Raise(ctx, token); err != nil {
			t.Fatal(err)
		}
		if err := pgxwriters.InScope(ctx, pool, token, func(w *pgxwriters.LinesTx) error {
			outcomes, err := w.UpsertBatch(ctx, []pgxwriters.LinesRow{{ID: "l", Region: "eu", Qty: 1}, {ID: "m", Region: "us", Qty: 1}, {ID: "n", Region: "eu", Qty: 1}})
			expect("in a scope", outcomes, err, "", fencedb.Accepted, fencedb.WrongResource, fencedb.Accepted)
			outcomes, err = w.UpdateBatch(ctx, []pgxwriters.LinesChange{{Key: pgxwriters.LinesKey{ID: "l"}}, {Key: pgxwriters.LinesKey{ID: "n"}, Patch: pgxwriters.LinesPatch{Qty: fencedb.Set[int64](2)}}, {Key: pgxwriters.LinesKey{ID: "m"}}})
			expect("with empty patches", outcomes, err, "", fencedb.Accepted, fencedb.Accepted, fencedb.Missing)
			return nil
		}); err != nil {
			t.Error(err)
		}
	})
}

// A scope that does not end well leaves nothing behind: neither writes nor a connection that
// is taken, nor the lock.
func TestPgxScopeEnds(t *testing.T) {
	own, _ := servers[0].open(t).withTables(t, "")
	pool := own.pool(t)
	token := fencedbtest.Token("notes", 1)
	if err := pgxwriters.Guard(pool).Raise(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("failed")
	ctx, cancel := context.WithCancel(t.Context())
	for name, test := range map[string]struct {
		ctx  context.Context
		end  func() error
		want error
	}{
		"error":     {t.Context(), func() error { return failed }, failed},
		"panic":     {t.Context(), func() error { panic(failed) }, failed},
		"cancelled": {ctx, func() error { cancel(); return nil }, context.Canceled},
	} {
		err := func() (err error) {
			defer func() {
				if r := recover(); r != nil {
					err = r.(error)
				}
			}()
			return pgxwriters.InScope(test.ctx, pool, token, func(w *pgxwriters.NotesTx) error {
				if err := w.Insert(test.ctx, pgxwriters.NotesRow{ID: name}); err != nil {
					t.Error(err)
				}
				return test.end()
			})
		}()
		if !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
	for range 100 { // one that broke is given back by a goroutine of the pool
		if pool.Stat().AcquiredConns() == 0 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if taken := pool.Stat().AcquiredConns(); taken != 0 {
		t.Errorf("%d connections are taken", taken)
	}
	within, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	if err := pgxwriters.Guard(pool).Raise(within, fencedbtest.Token("notes", 2)); err != nil {
		t.Errorf("the next raise: %v", err)
	}
	var n int
	if err := own.QueryRow("SELECT count(*) FROM notes").Scan(&n); err != nil || n != 0 {
		t.Errorf("%d rows were committed, %v", n, err)
	}
	err := pgxwriters.Guard(pool).Raise(t.Context(), fencedb.Token{})
	want(t, "a raise to the zero token", err, fencedb.Invalid, 0)
	_, err = pgxwriters.Enter(t.Context(), nil, fencedb.Token{}) // the database is not touched
	want(t, "the zero token", err, fencedb.Invalid, 0)
}

func TestPgxTypes(t *testing.T) {
	schema, err := os.ReadFile(filepath.Join("writers", "pgxtypes", "schema.sql"))
	if err != nil {
		t.Fatal(err)
	}
	eachMode(t, func(t *testing.T, db database, pool *pgxpool.Pool) {
		ctx := t.Context()
		if _, err := db.ExecContext(ctx, string(schema)); err != nil {
			t.Fatal(err)
		}
		w := pgxtypes.NewKindsWriter(pool, fencedbtest.Token("kinds", 1))
		stored := func(what string, want string) {
			t.Helper()
			var got string
			if err := pool.QueryRow(ctx, "SELECT row_to_json(k)::text FROM kinds k").Scan(&got); err != nil || got != want {
				t.Errorf("%s: %v\ngot  %s\nwant %s", what, err, got, want)
			}
		}
		at := time.Date(2024, 2, 29, 23, 59, 58, 123456000, time.UTC)
		row := pgxtypes.KindsRow{
			ID: 1, N2: ptr[int16](-32768), N4: ptr[int32](1 << 30), N8: ptr[int64](1<<63 - 1), R4: ptr[float32](1.5), R8: ptr(0.1), Yes: ptr(true), Raw: []byte{0, 255},
			Words: ptr("it's \\ 'ü'"), Short: ptr("s"), Fixed: ptr("f"), Moody: ptr(pgxtypes.Mood("happy")),
			Num: ptr("12345678901234567890.0123456789"), Cash: ptr("$1.50"), Ident: ptr("00000000-0000-4000-8000-000000000001"), Span: ptr("1 day 02:03:04.5"), Clock: ptr("12:34:56"), Clockz: ptr("12:34:56+02"),
			Day: &at, Moment: &at, Instant: &at, Doc: json.RawMessage(`{"a": 1}`), Bdoc: json.RawMessage(`[1, "x"]`),
			IP: ptr("10.1.2.3"), Net: ptr("10.0.0.0/8"), Mac: ptr("08:00:2b:01:02:03"), Bits: ptr("1010"), Vbits: ptr("101"), DocXML: ptr("<a/>"), Lexemes: ptr("'a':1"),
			Nums: ptr("[1,5)"), Whens: ptr("[2024-01-01 00:00:00+00,infinity)"), Spot: ptr("(1,2)"),
			Texts: []string{"a", `b"\,`, ""}, Ints: []int64{1, -2}, Idents: []string{"00000000-0000-4000-8000-000000000002"}, Amounts: []string{"1.50"}, Moods: []pgxtypes.Mood{"sad", "happy"},
		}
		const all = `{"id":1,"n2":-32768,"n4":1073741824,"n8":9223372036854775807,"r4":1.5,"r8":0.1,"yes":true,"raw":"\\x00ff",` +
			`"words":"it's \\ 'ü'","short":"s","fixed":"f    ","moody":"happy",` +
			`"num":12345678901234567890.0123456789,"cash":"$1.50","ident":"00000000-0000-4000-8000-000000000001","span":"1 day 02:03:04.5","clock":"12:34:56","clockz":"12:34:56+02",` +
			`"day":"2024-02-29","moment":"2024-02-29T23:59:58.123456","instant":"2024-02-29T23:59:58.123456+00:00","doc":{"a": 1},"bdoc":[1, "x"],` +
			`"ip":"10.1.2.3","net":"10.0.0.0/8","mac":"08:00:2b:01:02:03","bits":"1010","vbits":"101","doc_xml":"<a/>","lexemes":"'a':1",` +
			`"nums":"[1,5)","whens":"[\"2024-01-01 00:00:00+00\",infinity)","spot":"(1,2)",` +
			`"texts":["a","b\"\\,",""],"ints":[1,-2],"idents":["00000000-0000-4000-8000-000000000002"],"amounts":[1.50],"moods":["sad","happy"],"fence":1}`
		want(t, "insert", w.Insert(ctx, row), fencedb.Accepted, 0)
		stored("insert", all)

		nulls := pgxtypes.KindsPatch{}
		patch := pgxtypes.KindsPatch{}
		for i := range reflect.TypeFor[pgxtypes.KindsPatch]().NumField() {
			name := reflect.TypeFor[pgxtypes.KindsPatch]().Field(i).Name
			setTo(reflect.ValueOf(&patch).Elem().Field(i), reflect.ValueOf(row).FieldByName(name))
			setTo(reflect.ValueOf(&nulls).Elem().Field(i), reflect.Value{})
		}
		want(t, "all NULL", w.Update(ctx, pgxtypes.KindsKey{ID: 1}, nulls), fencedb.Accepted, 0)
		var count int
		if err := pool.QueryRow(ctx, "SELECT num_nulls(words, num, doc, texts, moods, instant, raw, moody) FROM kinds").Scan(&count); err != nil || count != 8 {
			t.Errorf("%d of 8 are NULL, %v", count, err)
		}
		want(t, "update", w.Update(ctx, pgxtypes.KindsKey{ID: 1}, patch), fencedb.Accepted, 0)
		stored("update", all)
		want(t, "all NULL", w.Update(ctx, pgxtypes.KindsKey{ID: 1}, nulls), fencedb.Accepted, 0)
		want(t, "upsert", w.Upsert(ctx, row), fencedb.Accepted, 0)
		stored("upsert", all)

		token := fencedbtest.Token("keys", 1)
		if err := pgxtypes.Guard(pool).Raise(ctx, token); err != nil {
			t.Fatal(err)
		}
		if err := pgxtypes.InScope(ctx, pool, token, func(tx *pgxtypes.Tx) error {
			id, err := tx.Uuids().Insert(ctx, pgxtypes.UuidsRow{N: 1})
			if err != nil || len(id.ID) != 36 {
				t.Errorf("the uuid made is %v, %v", id, err)
			}
			span, err := tx.Intervals().Insert(ctx, pgxtypes.IntervalsRow{N: 1})
			if err != nil || span.Span != "1 day 02:03:04" || span.Addr != "10.0.0.1" || time.Since(span.At) > time.Hour {
				t.Errorf("the key made is %v, %v", span, err)
			}
			want(t, "by the key made", tx.Intervals().Update(ctx, span, pgxtypes.IntervalsPatch{N: fencedb.Set[int64](2)}), fencedb.Accepted, 0)
			return err
		}); err != nil {
			t.Error(err)
		}
	})
}

// setTo sets a change to what p has or points at, and to NULL if p is none.
func setTo(change, p reflect.Value) {
	c := change.Addr().Interface()
	if p.IsValid() && p.Kind() == reflect.Pointer {
		p = p.Elem()
	}
	switch c := c.(type) {
	case *fencedb.Change[int16]:
		set(c, p)
	case *fencedb.Change[int32]:
		set(c, p)
	case *fencedb.Change[int64]:
		set(c, p)
	case *fencedb.Change[float32]:
		set(c, p)
	case *fencedb.Change[float64]:
		set(c, p)
	case *fencedb.Change[bool]:
		set(c, p)
	case *fencedb.Change[[]byte]:
		set(c, p)
	case *fencedb.Change[string]:
		set(c, p)
	case *fencedb.Change[pgxtypes.Mood]:
		set(c, p)
	case *fencedb.Change[time.Time]:
		set(c, p)
	case *fencedb.Change[json.RawMessage]:
		set(c, p)
	case *fencedb.Change[[]string]:
		set(c, p)
	case *fencedb.Change[[]int64]:
		set(c, p)
	case *fencedb.Change[[]pgxtypes.Mood]:
		set(c, p)
	default:
		panic(change.Type().String())
	}
}

func set[T any](c *fencedb.Change[T], p reflect.Value) {
	*c = fencedb.Null[T]()
	if p.IsValid() {
		*c = fencedb.Set(p.Interface().(T))
	}
}
