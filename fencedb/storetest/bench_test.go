package storetest

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/fencedbtest"
	mariadb "github.com/fencelint/fence/fencedb/storetest/writers/mariadb"
	pgxwriters "github.com/fencelint/fence/fencedb/storetest/writers/pgx"
	postgres "github.com/fencelint/fence/fencedb/storetest/writers/postgres"
	sqlite "github.com/fencelint/fence/fencedb/storetest/writers/sqlite"
)

// BenchmarkCost sends each write in turns with the same one by hand that compares
// nothing, and reports the medians of both and their ratio:
//
//	scripts/services go test ./fencedb/storetest -run '^$' -bench Cost -benchtime 3000x
func BenchmarkCost(b *testing.B) {
	for _, s := range append([]server{{dialect: fencedb.SQLite}}, servers...) {
		if _, ok := generated[s.dialect]; !ok {
			continue
		}
		b.Run(string(s.dialect), func(b *testing.B) {
			db := benchDatabase(b, s)
			token := fencedbtest.Token("docs", 1<<40)
			ctx := context.Background()
			one, bare := writesOf(db, token, strings.Repeat("a", 1))
			compareCost(ctx, b, one, bare)
		})
	}
	b.Run("pgx", func(b *testing.B) {
		pool := benchDatabase(b, servers[0]).pool(b)
		token := fencedbtest.Token("docs", 1<<40)
		one, bare := pgxWrites(pool, token, "a")
		compareCost(context.Background(), b, one, bare)
		b.Run("batch", func(b *testing.B) { compareBatches(b, pool, token) })
	})
}

// compareBatches sends batches of a hundred updates in turns with the same updates one by
// one.
func compareBatches(b *testing.B, pool *pgxpool.Pool, token fencedb.Token) {
	ctx := context.Background()
	w := pgxwriters.NewDocsWriter(pool, token)
	const items = 100
	rows := make([]pgxwriters.DocsRow, items)
	changes := make([]pgxwriters.DocsChange, items)
	for i := range rows {
		rows[i].ID = strconv.Itoa(i)
		changes[i].Key.ID = rows[i].ID
	}
	if _, err := w.UpsertBatch(ctx, rows); err != nil {
		b.Fatal(err)
	}
	inTurns(b, func(n int64) error {
		for i := range changes {
			changes[i].Patch.N = fencedb.Set(n)
		}
		_, err := w.UpdateBatch(ctx, changes)
		return err
	}, func(n int64) error {
		for _, row := range rows {
			if _, err := pool.Exec(ctx, "UPDATE docs SET n = $1 WHERE id = $2", n, row.ID); err != nil {
				return err
			}
		}
		return nil
	})
}

func compareCost(ctx context.Context, b *testing.B, one, bare written) {
	b.Run("row", func(b *testing.B) {
		inTurns(b, func(n int64) error { return one.row(ctx, n) }, func(n int64) error { return bare.row(ctx, n) })
	})
	b.Run("scope", func(b *testing.B) {
		inTurns(b, func(n int64) error { return one.scope(ctx, n) }, func(n int64) error { return bare.scope(ctx, n) })
	})
}

// pgxWrites are those with pgx.
func pgxWrites(pool *pgxpool.Pool, token fencedb.Token, id string) (one, bare written) {
	bare.row = func(ctx context.Context, n int64) error {
		_, err := pool.Exec(ctx, "UPDATE docs SET n = $1 WHERE id = $2", n, id)
		return err
	}
	bare.scope = func(ctx context.Context, n int64) error {
		tx, err := pool.BeginTx(ctx, pgx.TxOptions{})
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback(ctx) }()
		if _, err := tx.Exec(ctx, "UPDATE notes SET body = $1 WHERE id = $2", strconv.FormatInt(n, 10), "a"); err != nil {
			return err
		}
		return tx.Commit(ctx)
	}
	w := pgxwriters.NewDocsWriter(pool, token)
	one.row = func(ctx context.Context, n int64) error {
		return w.Update(ctx, pgxwriters.DocsKey{ID: id}, pgxwriters.DocsPatch{N: fencedb.Set(n)})
	}
	one.scope = func(ctx context.Context, n int64) error {
		return pgxwriters.InScope(ctx, pool, token, func(w *pgxwriters.NotesTx) error {
			return w.Update(ctx, pgxwriters.NotesKey{ID: "a"}, pgxwriters.NotesPatch{Body: fencedb.Set(strconv.FormatInt(n, 10))})
		})
	}
	return one, bare
}

// written are the two kinds of a write.
type written struct {
	row, scope func(ctx context.Context, n int64) error
}

// writesOf are the generated writes and the ones by hand.
func writesOf(db database, token fencedb.Token, id string) (one, bare written) {
	update, inTx := "UPDATE docs SET n = ? WHERE id = ?", "UPDATE notes SET body = ? WHERE id = ?"
	if db.dialect == fencedb.Postgres {
		update, inTx = "UPDATE docs SET n = $1 WHERE id = $2", "UPDATE notes SET body = $1 WHERE id = $2"
	}
	bare.row = func(ctx context.Context, n int64) error {
		res, err := db.ExecContext(ctx, update, n, id)
		if err != nil {
			return err
		}
		_, err = res.RowsAffected()
		return err
	}
	bare.scope = func(ctx context.Context, n int64) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		if _, err := tx.ExecContext(ctx, inTx, strconv.FormatInt(n, 10), "a"); err != nil {
			return err
		}
		return tx.Commit()
	}
	switch db.dialect {
	case fencedb.Postgres:
		w := postgres.NewDocsWriter(db, token)
		one.row = func(ctx context.Context, n int64) error {
			return w.Update(ctx, postgres.DocsKey{ID: id}, postgres.DocsPatch{N: fencedb.Set(n)})
		}
		one.scope = func(ctx context.Context, n int64) error {
			return postgres.InScope(ctx, db, token, func(w *postgres.NotesTx) error {
				return w.Update(ctx, postgres.NotesKey{ID: "a"}, postgres.NotesPatch{Body: fencedb.Set(strconv.FormatInt(n, 10))})
			})
		}
	case fencedb.MariaDB:
		w := mariadb.NewDocsWriter(db, token)
		one.row = func(ctx context.Context, n int64) error {
			return w.Update(ctx, mariadb.DocsKey{ID: id}, mariadb.DocsPatch{N: fencedb.Set(n)})
		}
		one.scope = func(ctx context.Context, n int64) error {
			return mariadb.InScope(ctx, db, token, func(w *mariadb.NotesTx) error {
				return w.Update(ctx, mariadb.NotesKey{ID: "a"}, mariadb.NotesPatch{Body: fencedb.Set(strconv.FormatInt(n, 10))})
			})
		}
	case fencedb.SQLite:
		w := sqlite.NewDocsWriter(db, token)
		one.row = func(ctx context.Context, n int64) error {
			return w.Update(ctx, sqlite.DocsKey{ID: id}, sqlite.DocsPatch{N: fencedb.Set(n)})
		}
		one.scope = func(ctx context.Context, n int64) error {
			return sqlite.InScope(ctx, db, token, func(w *sqlite.NotesTx) error {
				return w.Update(ctx, sqlite.NotesKey{ID: "a"}, sqlite.NotesPatch{Body: fencedb.Set(strconv.FormatInt(n, 10))})
			})
		}
	}
	return one, bare
}

// inTurns runs both for each iteration, the first one alternating.
func inTurns(b *testing.B, one, bare func(n int64) error) {
	took := [2][]time.Duration{make([]time.Duration, 0, b.N), make([]time.Duration, 0, b.N)}
	do := [2]func(int64) error{one, bare}
	for n := range int64(b.N) {
		for turn := range int64(2) {
			i := (n + turn) % 2
			began := time.Now()
			if err := do[i](2*n + turn); err != nil { // never what is there already
				b.Fatal(err)
			}
			took[i] = append(took[i], time.Since(began))
		}
	}
	b.StopTimer()
	slices.Sort(took[0])
	slices.Sort(took[1])
	a, c := took[0][b.N/2], took[1][b.N/2]
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(a.Microseconds()), "fenced-µs")
	b.ReportMetric(float64(c.Microseconds()), "bare-µs")
	b.ReportMetric(float64(a)/float64(c), "ratio")
	runs := min(b.N, 500)
	b.ReportMetric(testing.AllocsPerRun(runs, func() { _ = one(1 << 20) })-testing.AllocsPerRun(runs, func() { _ = bare(1 << 20) }), "more-allocs")
}

// benchDatabase is a database with the tables and a row in each.
func benchDatabase(b *testing.B, s server) database {
	b.Helper()
	var db database
	if s.dialect == fencedb.SQLite {
		db = openSQLite(b)
	} else {
		db = s.open(b)
	}
	db, _ = db.withTables(b, "")
	ctx := context.Background()
	w := generated[s.dialect]
	token := fencedbtest.Token("docs", 1<<40)
	for _, err := range []error{
		w.docs(db, token).Insert(ctx, docsRow{"a", nil, 0}),
		w.guard(db).Raise(ctx, token),
		w.inScope(ctx, db, token, func(s scope) error { return s.notes.Insert(ctx, notesRow{"a", nil}) }),
	} {
		if err != nil {
			b.Fatal(err)
		}
	}
	return db
}
