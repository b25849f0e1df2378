package storetest

import (
	"context"
	"database/sql"
	"testing"

	"github.com/fencelint/fence/fencedb"
	mariadb "github.com/fencelint/fence/fencedb/storetest/writers/mariadb"
	postgres "github.com/fencelint/fence/fencedb/storetest/writers/postgres"
	sqlite "github.com/fencelint/fence/fencedb/storetest/writers/sqlite"
)

// The generated writers of the three databases have the same methods, on types of the
// same shape: each test is written once, for any of them.

// rows writes rows of type R with keys K and patches P.
type rows[K, R, P any] interface {
	Insert(context.Context, R) error
	Update(context.Context, K, P) error
	Upsert(context.Context, R) error
	Delete(context.Context, K) error
	UpsertBatch(context.Context, []R) ([]error, error)
	DeleteBatch(context.Context, []K) ([]error, error)
}

type (
	docsKey   = struct{ ID string }
	docsPatch = struct {
		Body fencedb.Change[string]
		N    fencedb.Change[int64]
	}
	docsRow = struct {
		ID   string
		Body *string
		N    int64
	}
	stateRow = struct {
		ID    string
		State string
	}
	statePatch = struct{ State fencedb.Change[string] }
	cellsKey   = struct {
		Select string
		AB     int64
	}
	cellsRow = struct {
		Select string
		AB     int64
		Sheet  string
		Order  *string
	}
	cellsPatch = struct{ Order fencedb.Change[string] }
	notesRow   = struct {
		ID   string
		Body *string
	}
	notesPatch = struct{ Body fencedb.Change[string] }
	linesRow   = struct {
		ID     string
		Region string
		Qty    int64
		Code   *string
	}
	linesPatch = struct {
		Qty  fencedb.Change[int64]
		Code fencedb.Change[string]
	}
	eventsKey = struct{ ID int64 }
)

// as turns a writer of one package's types into one of the types above.
type as[K0, R0, P0, K, R, P any] struct {
	w   rows[K0, R0, P0]
	key func(K) K0
	row func(R) R0
	pch func(P) P0
}

func (a as[K0, R0, P0, K, R, P]) Insert(ctx context.Context, r R) error {
	return a.w.Insert(ctx, a.row(r))
}
func (a as[K0, R0, P0, K, R, P]) Upsert(ctx context.Context, r R) error {
	return a.w.Upsert(ctx, a.row(r))
}
func (a as[K0, R0, P0, K, R, P]) Delete(ctx context.Context, k K) error {
	return a.w.Delete(ctx, a.key(k))
}
func (a as[K0, R0, P0, K, R, P]) Update(ctx context.Context, k K, p P) error {
	return a.w.Update(ctx, a.key(k), a.pch(p))
}

func (a as[K0, R0, P0, K, R, P]) UpsertBatch(ctx context.Context, rs []R) ([]error, error) {
	return a.w.UpsertBatch(ctx, each(rs, a.row))
}

func (a as[K0, R0, P0, K, R, P]) DeleteBatch(ctx context.Context, ks []K) ([]error, error) {
	return a.w.DeleteBatch(ctx, each(ks, a.key))
}

func each[T, U any](ts []T, f func(T) U) []U {
	us := make([]U, len(ts))
	for i, t := range ts {
		us[i] = f(t)
	}
	return us
}

// scope are the writers of one transaction.
type scope struct {
	notes rows[docsKey, notesRow, notesPatch]
	lines rows[docsKey, linesRow, linesPatch]
	event func(context.Context) (eventsKey, error)
}

// transaction is one of any driver.
type transaction interface {
	fencedb.Execer
	Commit() error
	Rollback() error
}

// writerSet are the writers of one database.
type writerSet struct {
	docs    func(fencedb.Execer, fencedb.Token) rows[docsKey, docsRow, docsPatch]
	tasks   func(fencedb.Execer, fencedb.Token) rows[docsKey, stateRow, statePatch]
	claims  func(fencedb.Execer, fencedb.Token) rows[docsKey, stateRow, statePatch]
	cells   func(fencedb.Execer, fencedb.Token) rows[cellsKey, cellsRow, cellsPatch]
	inScope func(context.Context, fencedb.Beginner, fencedb.Token, func(scope) error) error
	enter   func(context.Context, transaction, fencedb.Token) (scope, error)
	guard   func(fencedb.Beginner) fencedb.Guard
	// begin begins a transaction for them; nil: the database's own are.
	begin func(context.Context) (transaction, error)
}

func (w writerSet) beginIn(ctx context.Context, db database) (transaction, error) {
	if w.begin != nil {
		return w.begin(ctx)
	}
	return db.BeginTx(ctx, nil)
}

// writers are those of db's dialect; the test is skipped if there are none.
func (db database) writers(t *testing.T) writerSet {
	t.Helper()
	w, ok := generated[db.dialect]
	if !ok {
		t.Skipf("no writers are generated for %s: run fence gen in a new fencedb/storetest/writers/%s, as its siblings have it, and list it in writers_test.go", db.dialect, db.dialect)
	}
	return w
}

// generated are the writers of each dialect.
var generated = map[fencedb.Dialect]writerSet{
	fencedb.Postgres: {
		docs: func(db fencedb.Execer, t fencedb.Token) rows[docsKey, docsRow, docsPatch] {
			return as[postgres.DocsKey, postgres.DocsRow, postgres.DocsPatch, docsKey, docsRow, docsPatch]{postgres.NewDocsWriter(db, t), func(k docsKey) postgres.DocsKey { return k }, func(r docsRow) postgres.DocsRow { return r }, func(c docsPatch) postgres.DocsPatch { return c }}
		},
		tasks: func(db fencedb.Execer, t fencedb.Token) rows[docsKey, stateRow, statePatch] {
			return as[postgres.TasksKey, postgres.TasksRow, postgres.TasksPatch, docsKey, stateRow, statePatch]{postgres.NewTasksWriter(db, t), func(k docsKey) postgres.TasksKey { return k }, func(r stateRow) postgres.TasksRow { return r }, func(c statePatch) postgres.TasksPatch { return c }}
		},
		claims: func(db fencedb.Execer, t fencedb.Token) rows[docsKey, stateRow, statePatch] {
			return as[postgres.ClaimsKey, postgres.ClaimsRow, postgres.ClaimsPatch, docsKey, stateRow, statePatch]{postgres.NewClaimsWriter(db, t), func(k docsKey) postgres.ClaimsKey { return k }, func(r stateRow) postgres.ClaimsRow { return r }, func(c statePatch) postgres.ClaimsPatch { return c }}
		},
		cells: func(db fencedb.Execer, t fencedb.Token) rows[cellsKey, cellsRow, cellsPatch] {
			return as[postgres.CellsKey, postgres.CellsRow, postgres.CellsPatch, cellsKey, cellsRow, cellsPatch]{postgres.NewCellsWriter(db, t), func(k cellsKey) postgres.CellsKey { return k }, func(r cellsRow) postgres.CellsRow { return r }, func(c cellsPatch) postgres.CellsPatch { return c }}
		},
		inScope: func(ctx context.Context, db fencedb.Beginner, t fencedb.Token, fn func(scope) error) error {
			return postgres.InScope(ctx, db, t, func(tx *postgres.Tx) error { return fn(postgresScope(tx)) })
		},
		enter: func(ctx context.Context, tx transaction, t fencedb.Token) (scope, error) {
			entered, err := postgres.Enter(ctx, tx.(*sql.Tx), t)
			if err != nil {
				return scope{}, err
			}
			return postgresScope(entered), nil
		},
		guard: func(db fencedb.Beginner) fencedb.Guard { return postgres.Guard(db) },
	},
	fencedb.MariaDB: {
		docs: func(db fencedb.Execer, t fencedb.Token) rows[docsKey, docsRow, docsPatch] {
			return as[mariadb.DocsKey, mariadb.DocsRow, mariadb.DocsPatch, docsKey, docsRow, docsPatch]{mariadb.NewDocsWriter(db, t), func(k docsKey) mariadb.DocsKey { return k }, func(r docsRow) mariadb.DocsRow { return r }, func(c docsPatch) mariadb.DocsPatch { return c }}
		},
		tasks: func(db fencedb.Execer, t fencedb.Token) rows[docsKey, stateRow, statePatch] {
			return as[mariadb.TasksKey, mariadb.TasksRow, mariadb.TasksPatch, docsKey, stateRow, statePatch]{mariadb.NewTasksWriter(db, t), func(k docsKey) mariadb.TasksKey { return k }, func(r stateRow) mariadb.TasksRow { return r }, func(c statePatch) mariadb.TasksPatch { return c }}
		},
		claims: func(db fencedb.Execer, t fencedb.Token) rows[docsKey, stateRow, statePatch] {
			return as[mariadb.ClaimsKey, mariadb.ClaimsRow, mariadb.ClaimsPatch, docsKey, stateRow, statePatch]{mariadb.NewClaimsWriter(db, t), func(k docsKey) mariadb.ClaimsKey { return k }, func(r stateRow) mariadb.ClaimsRow { return r }, func(c statePatch) mariadb.ClaimsPatch { return c }}
		},
		cells: func(db fencedb.Execer, t fencedb.Token) rows[cellsKey, cellsRow, cellsPatch] {
			return as[mariadb.CellsKey, mariadb.CellsRow, mariadb.CellsPatch, cellsKey, cellsRow, cellsPatch]{mariadb.NewCellsWriter(db, t), func(k cellsKey) mariadb.CellsKey { return k }, func(r cellsRow) mariadb.CellsRow { return r }, func(c cellsPatch) mariadb.CellsPatch { return c }}
		},
		inScope: func(ctx context.Context, db fencedb.Beginner, t fencedb.Token, fn func(scope) error) error {
			return mariadb.InScope(ctx, db, t, func(tx *mariadb.Tx) error { return fn(mariadbScope(tx)) })
		},
		enter: func(ctx context.Context, tx transaction, t fencedb.Token) (scope, error) {
			entered, err := mariadb.Enter(ctx, tx.(*sql.Tx), t)
			if err != nil {
				return scope{}, err
			}
			return mariadbScope(entered), nil
		},
		guard: func(db fencedb.Beginner) fencedb.Guard { return mariadb.Guard(db) },
	},
	fencedb.SQLite: {
		docs: func(db fencedb.Execer, t fencedb.Token) rows[docsKey, docsRow, docsPatch] {
			return as[sqlite.DocsKey, sqlite.DocsRow, sqlite.DocsPatch, docsKey, docsRow, docsPatch]{sqlite.NewDocsWriter(db, t), func(k docsKey) sqlite.DocsKey { return k }, func(r docsRow) sqlite.DocsRow { return r }, func(c docsPatch) sqlite.DocsPatch { return c }}
		},
		tasks: func(db fencedb.Execer, t fencedb.Token) rows[docsKey, stateRow, statePatch] {
			return as[sqlite.TasksKey, sqlite.TasksRow, sqlite.TasksPatch, docsKey, stateRow, statePatch]{sqlite.NewTasksWriter(db, t), func(k docsKey) sqlite.TasksKey { return k }, func(r stateRow) sqlite.TasksRow { return r }, func(c statePatch) sqlite.TasksPatch { return c }}
		},
		claims: func(db fencedb.Execer, t fencedb.Token) rows[docsKey, stateRow, statePatch] {
			return as[sqlite.ClaimsKey, sqlite.ClaimsRow, sqlite.ClaimsPatch, docsKey, stateRow, statePatch]{sqlite.NewClaimsWriter(db, t), func(k docsKey) sqlite.ClaimsKey { return k }, func(r stateRow) sqlite.ClaimsRow { return r }, func(c statePatch) sqlite.ClaimsPatch { return c }}
		},
		cells: func(db fencedb.Execer, t fencedb.Token) rows[cellsKey, cellsRow, cellsPatch] {
			return as[sqlite.CellsKey, sqlite.CellsRow, sqlite.CellsPatch, cellsKey, cellsRow, cellsPatch]{sqlite.NewCellsWriter(db, t), func(k cellsKey) sqlite.CellsKey { return k }, func(r cellsRow) sqlite.CellsRow { return r }, func(c cellsPatch) sqlite.CellsPatch { return c }}
		},
		inScope: func(ctx context.Context, db fencedb.Beginner, t fencedb.Token, fn func(scope) error) error {
			return sqlite.InScope(ctx, db, t, func(tx *sqlite.Tx) error { return fn(sqliteScope(tx)) })
		},
		enter: func(ctx context.Context, tx transaction, t fencedb.Token) (scope, error) {
			entered, err := sqlite.Enter(ctx, tx.(*sql.Tx), t)
			if err != nil {
				return scope{}, err
			}
			return sqliteScope(entered), nil
		},
		guard: func(db fencedb.Beginner) fencedb.Guard { return sqlite.Guard(db) },
	},
}

func postgresScope(tx *postgres.Tx) scope {
	return scope{
		as[postgres.NotesKey, postgres.NotesRow, postgres.NotesPatch, docsKey, notesRow, notesPatch]{tx.Notes(), func(k docsKey) postgres.NotesKey { return k }, func(r notesRow) postgres.NotesRow { return r }, func(c notesPatch) postgres.NotesPatch { return c }},
		as[postgres.LinesKey, postgres.LinesRow, postgres.LinesPatch, docsKey, linesRow, linesPatch]{tx.Lines(), func(k docsKey) postgres.LinesKey { return k }, func(r linesRow) postgres.LinesRow { return r }, func(c linesPatch) postgres.LinesPatch { return c }},
		func(ctx context.Context) (eventsKey, error) {
			k, err := tx.Events().Insert(ctx, postgres.EventsRow{})
			return k, err
		},
	}
}

func mariadbScope(tx *mariadb.Tx) scope {
	return scope{
		as[mariadb.NotesKey, mariadb.NotesRow, mariadb.NotesPatch, docsKey, notesRow, notesPatch]{tx.Notes(), func(k docsKey) mariadb.NotesKey { return k }, func(r notesRow) mariadb.NotesRow { return r }, func(c notesPatch) mariadb.NotesPatch { return c }},
		as[mariadb.LinesKey, mariadb.LinesRow, mariadb.LinesPatch, docsKey, linesRow, linesPatch]{tx.Lines(), func(k docsKey) mariadb.LinesKey { return k }, func(r linesRow) mariadb.LinesRow { return r }, func(c linesPatch) mariadb.LinesPatch { return c }},
		func(ctx context.Context) (eventsKey, error) {
			k, err := tx.Events().Insert(ctx, mariadb.EventsRow{})
			return k, err
		},
	}
}

func sqliteScope(tx *sqlite.Tx) scope {
	return scope{
		as[sqlite.NotesKey, sqlite.NotesRow, sqlite.NotesPatch, docsKey, notesRow, notesPatch]{tx.Notes(), func(k docsKey) sqlite.NotesKey { return k }, func(r notesRow) sqlite.NotesRow { return r }, func(c notesPatch) sqlite.NotesPatch { return c }},
		as[sqlite.LinesKey, sqlite.LinesRow, sqlite.LinesPatch, docsKey, linesRow, linesPatch]{tx.Lines(), func(k docsKey) sqlite.LinesKey { return k }, func(r linesRow) sqlite.LinesRow { return r }, func(c linesPatch) sqlite.LinesPatch { return c }},
		func(ctx context.Context) (eventsKey, error) {
			k, err := tx.Events().Insert(ctx, sqlite.EventsRow{})
			return k, err
		},
	}
}
