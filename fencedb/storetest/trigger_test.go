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
