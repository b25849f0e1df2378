package storetest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/fencedbtest"
)

// withTables returns a database of its own with the tables of the generated writers, and more
// connections to it.
func (db database) withTables(t testing.TB, params string) (database, func(params string) database) {
	t.Helper()
	connect := db.namespace(t)
	own := connect(params)
	text, err := os.ReadFile(filepath.Join("writers", string(db.dialect), "schema.sql"))
	if err != nil {
		t.Fatal(err)
	}
	for _, stmt := range strings.Split(string(text), ";\n") {
		if strings.TrimSpace(stmt) == "" {
			continue
		}
		if _, err := own.ExecContext(t.Context(), stmt); err != nil {
			t.Fatalf("%s: %v", stmt, err)
		}
	}
	g, err := fencedb.NewGuardTable(db.dialect)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Create(t.Context(), own); err != nil {
		t.Fatal(err)
	}
	return own, connect
}

// namespace makes a schema, database or file, and returns what connects to it with more
// parameters in the data source.
func (db database) namespace(t testing.TB) func(params string) database {
	t.Helper()
	if db.dialect == fencedb.SQLite {
		path := filepath.Join(t.TempDir(), "writers.db")
		return func(params string) database {
			if !strings.Contains(params, "_txlock") {
				params += "&_txlock=immediate"
			}
			if !strings.Contains(params, "busy_timeout") {
				params += "&_pragma=busy_timeout(20000)"
			}
			source := "file:" + path + "?_pragma=journal_mode(wal)" + params
			return database{open(t, "sqlite", source), db.dialect, source}
		}
	}
	name := fmt.Sprintf("writers_%d_%d", os.Getpid(), tables.Add(1))
	kind, drop := "SCHEMA ", " CASCADE"
	if db.dialect != fencedb.Postgres {
		kind, drop = "DATABASE ", ""
	}
	if _, err := db.ExecContext(t.Context(), "CREATE "+kind+name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := db.Exec("DROP " + kind + name + drop); err != nil {
			t.Error(err)
		}
	})
	for _, s := range servers {
		if s.dialect != db.dialect {
			continue
		}
		source := os.Getenv(s.source)
		return func(params string) database {
			own := source + "&search_path=" + name + params
			if db.dialect != fencedb.Postgres {
				at := strings.LastIndexByte(source, '/')
				own = source[:at+1] + name + "?" + strings.TrimPrefix(params, "&")
			}
			return database{open(t, s.driver, own), db.dialect, own}
		}
	}
	t.Fatal("no such server")
	return nil
}

// eachWriters runs test on every database that has generated writers, on MariaDB also
// with the flag that changes which rows count, on PostgreSQL also with those for pgx.
func eachWriters(t *testing.T, test func(t *testing.T, db database, w writerSet)) {
	eachDatabase(t, func(t *testing.T, db database) {
		w := db.writers(t)
		t.Run("default", func(t *testing.T) {
			own, _ := db.withTables(t, "")
			test(t, own, w)
		})
		if db.dialect == fencedb.Postgres {
			t.Run("pgx", func(t *testing.T) {
				own, _ := db.withTables(t, "")
				test(t, own, pgxWriters(own.pool(t)))
			})
		}
		if db.dialect == fencedb.MariaDB {
			t.Run("found rows", func(t *testing.T) {
				own, _ := db.withTables(t, "&clientFoundRows=true")
				test(t, own, w)
			})
		}
	})
}

// want compares a write's result; 0 stands for a current token that is not known.
func want(t *testing.T, what string, err error, result fencedb.Result, current int64) {
	t.Helper()
	if got := fencedb.ResultOf(err); got != result {
		t.Errorf("%s: %v, want %s", what, err, result)
		return
	}
	var stale *fencedb.StaleError
	if errors.As(err, &stale) && (stale.Current != current || stale.Table == "" || stale.Key == "" && stale.Table != fencedb.DefaultGuardTable) {
		t.Errorf("%s: %#v, want current %d, table and key", what, stale, current)
	}
}

func quoted(t *testing.T, db database, name string) string {
	t.Helper()
	q, err := db.dialect.Quote(name)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func ptr[T any](v T) *T { return &v }

func TestRowOutcomes(t *testing.T) {
	eachWriters(t, func(t *testing.T, db database, w writerSet) {
		ctx := t.Context()
		docs := func(n int64) rows[docsKey, docsRow, docsPatch] { return w.docs(db, fencedbtest.Token("docs", n)) }
		k := docsKey{"a"}
		set := func(n int64) docsPatch { return docsPatch{N: fencedb.Set(n)} }
		n := func() (n int64) {
			t.Helper()
			if err := db.QueryRow("SELECT n FROM docs WHERE id = 'a'").Scan(&n); err != nil {
				t.Error(err)
			}
			return n
		}
		want(t, "update of nothing", docs(5).Update(ctx, k, set(1)), fencedb.Missing, 0)
		want(t, "insert", docs(5).Insert(ctx, docsRow{"a", ptr("x"), 1}), fencedb.Accepted, 0)
		want(t, "insert again", docs(5).Insert(ctx, docsRow{"a", nil, 2}), fencedb.Failed, 0)
		want(t, "update", docs(5).Update(ctx, k, set(2)), fencedb.Accepted, 0)
		want(t, "the same update", docs(5).Update(ctx, k, set(2)), fencedb.Accepted, 0)
		want(t, "update of a stale holder", docs(4).Update(ctx, k, set(3)), fencedb.Stale, 5)
		want(t, "update by a successor that changes nothing else", docs(6).Update(ctx, k, set(2)), fencedb.Accepted, 0)
		want(t, "update of the former holder", docs(5).Update(ctx, k, set(4)), fencedb.Stale, 6)
		want(t, "the former holder's, with what is there", docs(5).Update(ctx, k, set(2)), fencedb.Stale, 6)
		want(t, "empty patch", docs(7).Update(ctx, k, docsPatch{}), fencedb.Accepted, 0)
		want(t, "after the empty patch", docs(6).Update(ctx, k, docsPatch{}), fencedb.Stale, 7)
		want(t, "NULL", docs(7).Update(ctx, k, docsPatch{Body: fencedb.Null[string]()}), fencedb.Accepted, 0)
		if got := n(); got != 2 {
			t.Errorf("n is %d after the updates, want 2", got)
		}
		want(t, "upsert of a stale holder", docs(6).Upsert(ctx, docsRow{"a", nil, 9}), fencedb.Stale, 7)
		want(t, "upsert", docs(7).Upsert(ctx, docsRow{"a", nil, 10}), fencedb.Accepted, 0)
		want(t, "the same upsert", docs(7).Upsert(ctx, docsRow{"a", nil, 10}), fencedb.Accepted, 0)
		want(t, "upsert by a successor", docs(8).Upsert(ctx, docsRow{"a", ptr("y"), 11}), fencedb.Accepted, 0)
		want(t, "upsert of a new row", docs(3).Upsert(ctx, docsRow{"b", nil, 1}), fencedb.Accepted, 0)
		if got := n(); got != 11 {
			t.Errorf("n is %d after the upserts, want 11", got)
		}
		want(t, "delete by a stale holder", docs(7).Delete(ctx, k), fencedb.Stale, 8)
		want(t, "delete", docs(8).Delete(ctx, k), fencedb.Accepted, 0)
		want(t, "delete again", docs(8).Delete(ctx, k), fencedb.Missing, 0)
		want(t, "zero token", w.docs(db, fencedb.Token{}).Update(ctx, k, set(1)), fencedb.Invalid, 0)
		want(t, "largest token", docs(1<<63-1).Upsert(ctx, docsRow{"c", nil, 1}), fencedb.Accepted, 0)
		want(t, "after the largest token", docs(1<<62).Update(ctx, docsKey{"c"}, set(2)), fencedb.Stale, 1<<63-1)

		outcomes, err := docs(4).UpsertBatch(ctx, []docsRow{{"b", nil, 5}, {"c", nil, 5}, {"d", nil, 5}})
		if err != nil || len(outcomes) != 3 || outcomes[0] != nil || !errors.Is(outcomes[1], fencedb.ErrStale) || outcomes[2] != nil {
			t.Errorf("batch of upserts: %v, %v", outcomes, err)
		}
		outcomes, err = docs(4).DeleteBatch(ctx, []docsKey{{"b"}, {"c"}, {"nothing"}})
		if err != nil || len(outcomes) != 3 || outcomes[0] != nil || !errors.Is(outcomes[1], fencedb.ErrStale) || !errors.Is(outcomes[2], fencedb.ErrNotFound) {
			t.Errorf("batch of deletes: %v, %v", outcomes, err)
		}
	})
}

func TestEqualOutcomes(t *testing.T) {
	eachWriters(t, func(t *testing.T, db database, w writerSet) {
		ctx := t.Context()
		k, set := docsKey{"a"}, func(s string) statePatch { return statePatch{fencedb.Set(s)} }
		tasks := func(n int64) rows[docsKey, stateRow, statePatch] { return w.tasks(db, fencedbtest.Token("tasks", n)) }
		want(t, "update of nothing", tasks(5).Update(ctx, k, set("x")), fencedb.Missing, 0)
		want(t, "insert", tasks(5).Insert(ctx, stateRow{"a", "new"}), fencedb.Accepted, 0)
		want(t, "update", tasks(5).Update(ctx, k, set("x")), fencedb.Accepted, 0)
		want(t, "the same update", tasks(5).Update(ctx, k, set("x")), fencedb.Accepted, 0)
		want(t, "smaller", tasks(4).Update(ctx, k, set("y")), fencedb.Stale, 5)
		want(t, "larger", tasks(6).Update(ctx, k, set("y")), fencedb.NotGranted, 0)
		want(t, "larger, with what is there", tasks(6).Update(ctx, k, set("x")), fencedb.NotGranted, 0)
		want(t, "upsert of a smaller", tasks(4).Upsert(ctx, stateRow{"a", "y"}), fencedb.Stale, 5)
		want(t, "upsert of a larger", tasks(6).Upsert(ctx, stateRow{"a", "y"}), fencedb.NotGranted, 0)
		want(t, "upsert", tasks(5).Upsert(ctx, stateRow{"a", "x"}), fencedb.Accepted, 0)
		want(t, "delete by a smaller", tasks(4).Delete(ctx, k), fencedb.Stale, 5)
		want(t, "delete", tasks(5).Delete(ctx, k), fencedb.Accepted, 0)

		claims := func(grant string) rows[docsKey, stateRow, statePatch] {
			return w.claims(db, fencedbtest.Granted("claims", 1, grant))
		}
		want(t, "insert", claims("g1").Insert(ctx, stateRow{"a", "new"}), fencedb.Accepted, 0)
		want(t, "update", claims("g1").Update(ctx, k, set("x")), fencedb.Accepted, 0)
		want(t, "the same update", claims("g1").Update(ctx, k, set("x")), fencedb.Accepted, 0)
		want(t, "another grant", claims("g2").Update(ctx, k, set("y")), fencedb.Stale, 0)
		want(t, "another grant, with what is there", claims("g2").Update(ctx, k, set("x")), fencedb.Stale, 0)
		want(t, "another grant's upsert", claims("g2").Upsert(ctx, stateRow{"a", "x"}), fencedb.Stale, 0)
		want(t, "upsert", claims("g1").Upsert(ctx, stateRow{"b", "x"}), fencedb.Accepted, 0)
		want(t, "another grant's delete", claims("g2").Delete(ctx, k), fencedb.Stale, 0)
		want(t, "missing", claims("g2").Update(ctx, docsKey{"none"}, set("x")), fencedb.Missing, 0)
		want(t, "delete", claims("g1").Delete(ctx, k), fencedb.Accepted, 0)
	})
}

func TestResourceOfTheRow(t *testing.T) {
	eachWriters(t, func(t *testing.T, db database, w writerSet) {
		ctx := t.Context()
		k := cellsKey{"s", 1}
		cells := func(resource string, n int64) rows[cellsKey, cellsRow, cellsPatch] {
			return w.cells(db, fencedbtest.Token(resource, n))
		}
		set := cellsPatch{fencedb.Set("o")}
		want(t, "insert for another sheet", cells("sheet:2", 5).Insert(ctx, cellsRow{"s", 1, "1", nil}), fencedb.WrongResource, 0)
		want(t, "insert", cells("sheet:1", 5).Insert(ctx, cellsRow{"s", 1, "1", nil}), fencedb.Accepted, 0)
		want(t, "update", cells("sheet:1", 5).Update(ctx, k, set), fencedb.Accepted, 0)
		want(t, "update under another sheet", cells("sheet:2", 5).Update(ctx, k, set), fencedb.WrongResource, 0)
		want(t, "the same under a larger token of another sheet", cells("sheet:2", 9).Update(ctx, k, set), fencedb.WrongResource, 0)
		want(t, "upsert that would move it", cells("sheet:2", 9).Upsert(ctx, cellsRow{"s", 1, "2", nil}), fencedb.WrongResource, 0)
		want(t, "upsert", cells("sheet:1", 9).Upsert(ctx, cellsRow{"s", 1, "1", ptr("p")}), fencedb.Accepted, 0)
		want(t, "stale", cells("sheet:1", 5).Update(ctx, k, set), fencedb.Stale, 9)
		want(t, "delete under another sheet", cells("sheet:2", 99).Delete(ctx, k), fencedb.WrongResource, 0)
		want(t, "missing", cells("sheet:2", 99).Delete(ctx, cellsKey{"s", 2}), fencedb.Missing, 0)
		want(t, "delete", cells("sheet:1", 9).Delete(ctx, k), fencedb.Accepted, 0)
	})
}

func TestScopeOutcomes(t *testing.T) {
	eachWriters(t, func(t *testing.T, db database, w writerSet) {
		ctx := t.Context()
		token := func(n int64) fencedb.Token { return fencedbtest.Token("region:eu", n) }
		in := func(n int64, fn func(scope) error) error { return w.inScope(ctx, db, token(n), fn) }
		k := docsKey{"a"}
		body := func(s string) notesPatch { return notesPatch{fencedb.Set(s)} }
		want(t, "not raised", in(5, func(scope) error { return errors.New("entered") }), fencedb.NotGranted, 0)
		if err := w.guard(db).Raise(ctx, token(5)); err != nil {
			t.Fatal(err)
		}
		ok := func(what string, fn func(s scope) error) {
			t.Helper()
			want(t, what, in(5, fn), fencedb.Accepted, 0)
		}
		ok("insert", func(s scope) error { return s.notes.Insert(ctx, notesRow{"a", nil}) })
		ok("update", func(s scope) error { return s.notes.Update(ctx, k, body("x")) })
		ok("the same update", func(s scope) error { return s.notes.Update(ctx, k, body("x")) })
		ok("empty patch", func(s scope) error { return s.notes.Update(ctx, k, notesPatch{}) })
		ok("upsert", func(s scope) error { return s.notes.Upsert(ctx, notesRow{"a", ptr("y")}) })
		ok("the same upsert", func(s scope) error { return s.notes.Upsert(ctx, notesRow{"a", ptr("y")}) })
		ok("upsert of a new row", func(s scope) error { return s.notes.Upsert(ctx, notesRow{"b", nil}) })
		ok("delete", func(s scope) error { return s.notes.Delete(ctx, docsKey{"b"}) })
		for what, fn := range map[string]func(s scope) error{
			"update of nothing":      func(s scope) error { return s.notes.Update(ctx, docsKey{"b"}, body("x")) },
			"empty patch of nothing": func(s scope) error { return s.notes.Update(ctx, docsKey{"b"}, notesPatch{}) },
			"delete of nothing":      func(s scope) error { return s.notes.Delete(ctx, docsKey{"b"}) },
		} {
			want(t, what, in(5, fn), fencedb.Missing, 0)
		}

		ok("lines", func(s scope) error {
			want(t, "insert for another region", s.lines.Insert(ctx, linesRow{"l", "us", 1, nil}), fencedb.WrongResource, 0)
			return errors.Join(s.lines.Insert(ctx, linesRow{"l", "eu", 1, ptr("c1")}), s.lines.Insert(ctx, linesRow{"m", "eu", 2, ptr("c2")}))
		})
		ok("lines", func(s scope) error {
			return errors.Join(s.lines.Update(ctx, docsKey{"l"}, linesPatch{Qty: fencedb.Set[int64](1)}), s.lines.Upsert(ctx, linesRow{"l", "eu", 1, ptr("c1")}))
		})
		// Another row has that code: it must not be taken for the row of the key.
		want(t, "upsert against another unique key", in(5, func(s scope) error {
			return s.lines.Upsert(ctx, linesRow{"new", "eu", 7, ptr("c2")})
		}), fencedb.Failed, 0)
		var qty int64
		if err := db.QueryRow("SELECT qty FROM " + quoted(t, db, "lines") + " WHERE id = 'm'").Scan(&qty); err != nil || qty != 2 {
			t.Errorf("the other row's qty is %d, %v", qty, err)
		}
		other := fencedbtest.Token("region:us", 1)
		if err := w.guard(db).Raise(ctx, other); err != nil {
			t.Fatal(err)
		}
		want(t, "a row of another region", w.inScope(ctx, db, other, func(s scope) error {
			return s.lines.Update(ctx, docsKey{"l"}, linesPatch{Qty: fencedb.Set[int64](9)})
		}), fencedb.WrongResource, 0)

		ok("events", func(s scope) error {
			first, err := s.event(ctx)
			if err != nil {
				return err
			}
			second, err := s.event(ctx)
			if err == nil && (first.ID == 0 || second.ID <= first.ID) {
				t.Errorf("the keys made are %d and %d", first.ID, second.ID)
			}
			return err
		})

		if err := w.guard(db).Raise(ctx, token(6)); err != nil {
			t.Fatal(err)
		}
		want(t, "the former holder", in(5, func(scope) error { return errors.New("entered") }), fencedb.Stale, 6)

		tx, err := w.beginIn(ctx, db)
		if err != nil {
			t.Fatal(err)
		}
		s, err := w.enter(ctx, tx, token(6))
		want(t, "enter", err, fencedb.Accepted, 0)
		want(t, "update", s.notes.Update(ctx, k, body("z")), fencedb.Accepted, 0)
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
	})
}

// A writer that waits for the row of a transaction whose token is larger decides by what
// that transaction leaves, not by what it saw when it came.
func TestRowRaces(t *testing.T) {
	eachWriters(t, func(t *testing.T, db database, w writerSet) {
		ctx := t.Context()
		if err := w.docs(db, fencedbtest.Token("docs", 5)).Insert(ctx, docsRow{"a", nil, 1}); err != nil {
			t.Fatal(err)
		}
		for _, race := range []struct {
			name  string
			first func(newer rows[docsKey, docsRow, docsPatch]) error
			late  func(older rows[docsKey, docsRow, docsPatch]) error
			want  fencedb.Result
		}{
			{"update, update", func(w rows[docsKey, docsRow, docsPatch]) error { return w.Update(ctx, docsKey{"a"}, docsPatch{}) },
				func(w rows[docsKey, docsRow, docsPatch]) error {
					return w.Update(ctx, docsKey{"a"}, docsPatch{N: fencedb.Set[int64](9)})
				}, fencedb.Stale},
			{"update, delete", func(w rows[docsKey, docsRow, docsPatch]) error { return w.Update(ctx, docsKey{"a"}, docsPatch{}) },
				func(w rows[docsKey, docsRow, docsPatch]) error { return w.Delete(ctx, docsKey{"a"}) }, fencedb.Stale},
			{"update, upsert", func(w rows[docsKey, docsRow, docsPatch]) error { return w.Update(ctx, docsKey{"a"}, docsPatch{}) },
				func(w rows[docsKey, docsRow, docsPatch]) error { return w.Upsert(ctx, docsRow{"a", nil, 9}) }, fencedb.Stale},
			{"insert, upsert", func(w rows[docsKey, docsRow, docsPatch]) error { return w.Insert(ctx, docsRow{"new", nil, 1}) },
				func(w rows[docsKey, docsRow, docsPatch]) error { return w.Upsert(ctx, docsRow{"new", nil, 9}) }, fencedb.Stale},
			{"delete, update", func(w rows[docsKey, docsRow, docsPatch]) error { return w.Delete(ctx, docsKey{"new"}) },
				func(w rows[docsKey, docsRow, docsPatch]) error {
					return w.Update(ctx, docsKey{"new"}, docsPatch{N: fencedb.Set[int64](9)})
				}, fencedb.Missing},
			// What row guards do not promise: the row is gone, and with it its fence.
			{"delete, insert", func(w rows[docsKey, docsRow, docsPatch]) error { return w.Delete(ctx, docsKey{"a"}) },
				func(w rows[docsKey, docsRow, docsPatch]) error { return w.Insert(ctx, docsRow{"a", nil, 9}) }, fencedb.Accepted},
		} {
			tx, err := w.beginIn(ctx, db)
			if err != nil {
				t.Fatal(err)
			}
			if err := race.first(w.docs(tx, fencedbtest.Token("docs", 10))); err != nil {
				t.Fatalf("%s: the first: %v", race.name, err)
			}
			late := make(chan error, 1)
			go func() { late <- race.late(w.docs(db, fencedbtest.Token("docs", 7))) }()
			select {
			case err := <-late:
				t.Errorf("%s: the late one did not wait: %v", race.name, err)
				late <- err
			case <-time.After(200 * time.Millisecond):
			}
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
			want(t, race.name, <-late, race.want, 10)
		}
		var n int64
		if err := db.QueryRow("SELECT COUNT(*) FROM docs WHERE n = 9 AND id <> 'a'").Scan(&n); err != nil || n != 0 {
			t.Errorf("%d stale writes landed, %v", n, err)
		}
	})
}
