package storetest

import (
	"testing"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/fencedbtest"
)

// staleTriggers reject every update as the triggers of a strict migration reject a stale
// one: with the same code.
var staleTriggers = map[fencedb.Dialect][]string{
	fencedb.SQLite: {`CREATE TRIGGER fence_docs_bu BEFORE UPDATE ON docs BEGIN SELECT RAISE(ABORT, 'fence:stale:docs'); END`},
	fencedb.Postgres: {
		`CREATE FUNCTION stale() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'fence:stale:docs' USING ERRCODE = 'ZF001'; END $$`,
		`CREATE TRIGGER fence_docs_bu BEFORE UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION stale()`,
	},
	fencedb.MariaDB: {`CREATE TRIGGER fence_docs_bu BEFORE UPDATE ON docs FOR EACH ROW
		SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31001, MESSAGE_TEXT = 'fence:stale:docs'`},
}

// What a trigger rejects as stale is a StaleError, as if the statement had compared.
func TestTriggersErrorsAreStale(t *testing.T) {
	eachWriters(t, func(t *testing.T, db database, w writerSet) {
		ctx := t.Context()
		docs := w.docs(db, fencedbtest.Token("docs", 5))
		if err := docs.Insert(ctx, docsRow{"a", nil, 1}); err != nil {
			t.Fatal(err)
		}
		for _, text := range staleTriggers[db.dialect] {
			if _, err := db.ExecContext(ctx, text); err != nil {
				t.Fatal(err)
			}
		}
		want(t, "update", docs.Update(ctx, docsKey{"a"}, docsPatch{N: fencedb.Set[int64](2)}), fencedb.Stale, 0)
		want(t, "upsert", docs.Upsert(ctx, docsRow{"a", nil, 2}), fencedb.Stale, 0)
	})
}

// auditTriggers write a row of a table of their own for each row that is updated. On
// MariaDB that hides what LAST_INSERT_ID told.
var auditTriggers = map[fencedb.Dialect][]string{
	fencedb.SQLite: {
		`CREATE TABLE audit (n INTEGER PRIMARY KEY)`,
		`CREATE TRIGGER audit_au AFTER UPDATE ON docs BEGIN INSERT INTO audit (n) VALUES (NULL); END`,
		`CREATE TRIGGER audit_tasks AFTER UPDATE ON tasks BEGIN INSERT INTO audit (n) VALUES (NULL); END`,
		`CREATE TRIGGER audit_claims AFTER UPDATE ON claims BEGIN INSERT INTO audit (n) VALUES (NULL); END`,
	},
	fencedb.Postgres: {
		`CREATE TABLE audit (n bigserial PRIMARY KEY)`,
		`CREATE FUNCTION audited() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO audit DEFAULT VALUES; RETURN NEW; END $$`,
		`CREATE TRIGGER audit_au AFTER UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION audited()`,
		`CREATE TRIGGER audit_au AFTER UPDATE ON tasks FOR EACH ROW EXECUTE FUNCTION audited()`,
		`CREATE TRIGGER audit_au AFTER UPDATE ON claims FOR EACH ROW EXECUTE FUNCTION audited()`,
	},
	fencedb.MariaDB: {
		`CREATE TABLE audit (n bigint AUTO_INCREMENT PRIMARY KEY)`,
		`CREATE TRIGGER audit_docs AFTER UPDATE ON docs FOR EACH ROW INSERT INTO audit () VALUES ()`,
		`CREATE TRIGGER audit_tasks AFTER UPDATE ON tasks FOR EACH ROW INSERT INTO audit () VALUES ()`,
		`CREATE TRIGGER audit_claims AFTER UPDATE ON claims FOR EACH ROW INSERT INTO audit () VALUES ()`,
	},
}

// Triggers of the table run for what is accepted, and for nothing else; they change no
// outcome.
func TestTriggersOfTheTable(t *testing.T) {
	eachWriters(t, func(t *testing.T, db database, w writerSet) {
		ctx := t.Context()
		for _, text := range auditTriggers[db.dialect] {
			if _, err := db.ExecContext(ctx, text); err != nil {
				t.Fatal(err)
			}
		}
		audited := func() (n int) {
			t.Helper()
			if err := db.QueryRow("SELECT COUNT(*) FROM audit").Scan(&n); err != nil {
				t.Error(err)
			}
			return n
		}
		k, set := docsKey{"a"}, func(n int64) docsPatch { return docsPatch{N: fencedb.Set(n)} }
		docs := func(n int64) rows[docsKey, docsRow, docsPatch] { return w.docs(db, fencedbtest.Token("docs", n)) }
		tasks := func(n int64) rows[docsKey, stateRow, statePatch] { return w.tasks(db, fencedbtest.Token("tasks", n)) }
		claims := func(g string) rows[docsKey, stateRow, statePatch] {
			return w.claims(db, fencedbtest.Granted("claims", 1, g))
		}
		state := func(s string) statePatch { return statePatch{fencedb.Set(s)} }
		want(t, "insert", docs(5).Insert(ctx, docsRow{"a", nil, 1}), fencedb.Accepted, 0)
		want(t, "insert", tasks(5).Insert(ctx, stateRow{"a", "x"}), fencedb.Accepted, 0)
		want(t, "insert", claims("g").Insert(ctx, stateRow{"a", "x"}), fencedb.Accepted, 0)

		want(t, "update", docs(6).Update(ctx, k, set(2)), fencedb.Accepted, 0)
		want(t, "the same update", docs(6).Update(ctx, k, set(2)), fencedb.Accepted, 0)
		want(t, "upsert", docs(6).Upsert(ctx, docsRow{"a", nil, 3}), fencedb.Accepted, 0)
		want(t, "update of an equal fence", tasks(5).Update(ctx, k, state("y")), fencedb.Accepted, 0)
		want(t, "the same", tasks(5).Update(ctx, k, state("y")), fencedb.Accepted, 0)
		want(t, "update of an equal grant", claims("g").Update(ctx, k, state("y")), fencedb.Accepted, 0)
		want(t, "the same", claims("g").Update(ctx, k, state("y")), fencedb.Accepted, 0)
		before := audited()
		if before < 5 {
			t.Errorf("%d updates are audited", before)
		}
		want(t, "stale", docs(5).Update(ctx, k, set(9)), fencedb.Stale, 6)
		want(t, "stale upsert", docs(5).Upsert(ctx, docsRow{"a", nil, 9}), fencedb.Stale, 6)
		want(t, "missing", docs(5).Update(ctx, docsKey{"none"}, set(9)), fencedb.Missing, 0)
		want(t, "another attempt", tasks(4).Update(ctx, k, state("z")), fencedb.Stale, 5)
		want(t, "another grant", claims("h").Update(ctx, k, state("z")), fencedb.Stale, 0)
		if after := audited(); after != before {
			t.Errorf("rejected writes ran the table's triggers %d times", after-before)
		}
	})
}

// A token without a grant id equals nothing, and letters are not the same in another case.
func TestGrantsAreExact(t *testing.T) {
	eachWriters(t, func(t *testing.T, db database, w writerSet) {
		ctx := t.Context()
		external, err := fencedb.ExternalToken("claims", 7)
		if err != nil {
			t.Fatal(err)
		}
		want(t, "no grant id", w.claims(db, external).Insert(ctx, stateRow{"a", "x"}), fencedb.Invalid, 0)
		claims := func(g string) rows[docsKey, stateRow, statePatch] {
			return w.claims(db, fencedbtest.Granted("claims", 1, g))
		}
		want(t, "insert", claims("abC").Insert(ctx, stateRow{"a", "x"}), fencedb.Accepted, 0)
		want(t, "another case", claims("abc").Update(ctx, docsKey{"a"}, statePatch{fencedb.Set("y")}), fencedb.Stale, 0)
		want(t, "no grant id", w.claims(db, external).Update(ctx, docsKey{"a"}, statePatch{fencedb.Set("y")}), fencedb.Invalid, 0)

		cells := func(resource string) rows[cellsKey, cellsRow, cellsPatch] {
			return w.cells(db, fencedbtest.Token(resource, 5))
		}
		want(t, "insert", cells("sheet:EU").Insert(ctx, cellsRow{"s", 1, "EU", nil}), fencedb.Accepted, 0)
		want(t, "another resource", cells("sheet:eu").Update(ctx, cellsKey{"s", 1}, cellsPatch{fencedb.Set("x")}), fencedb.WrongResource, 0)
		want(t, "the same", cells("sheet:EU").Update(ctx, cellsKey{"s", 1}, cellsPatch{fencedb.Set("x")}), fencedb.Accepted, 0)
	})
}
