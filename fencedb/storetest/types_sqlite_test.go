package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/fencedbtest"
	"github.com/fencelint/fence/fencedb/storetest/types/custom"
	sqlite "github.com/fencelint/fence/fencedb/storetest/types/sqlite"
)

// zoned is a time of microseconds in a zone of its own, local of its date.
var (
	zoned = time.Date(2024, 2, 29, 23, 59, 59, 123456000, time.FixedZone("", 5*3600+1800))
	early = time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC)
)

var sqliteCases = []typeCase{
	{column: "c_boolean", values: of(true, false), want: []string{"1", "0"}},
	{column: "c_date", values: of(zoned), want: []string{"'2024-02-29 23:59:59.123456+05:30'"}},
	{column: "c_datetime", values: of(zoned), want: []string{"'2024-02-29 23:59:59.123456+05:30'"}},
	{column: "c_timestamp", values: of(zoned), want: []string{"'2024-02-29 23:59:59.123456+05:30'"}},
	{column: "c_json", values: of(`{"a": "ü"}`, `null`), want: []string{`'{"a": "ü"}'`, "'null'"}},
	{column: "c_int", values: of[int64](-1<<63, 1<<63-1), want: []string{"-9223372036854775808", "9223372036854775807"}},
	{column: "c_integer", values: of[int64](-1<<63, 1<<63-1), want: []string{"-9223372036854775808", "9223372036854775807"}},
	{column: "c_bigint", values: of[int64](0, 1<<63-1), want: []string{"0", "9223372036854775807"}},
	{column: "c_unsigned", values: of[int64](1 << 62), want: []string{"4611686018427387904"}},
	{column: "c_char", values: of("ab ", ""), want: []string{"'ab '", "''"}},
	{column: "c_varchar", values: of("it's", "ü€😀"), want: []string{"'it''s'", "'ü€😀'"}},
	{column: "c_clob", values: of("x"), want: []string{"'x'"}},
	{column: "c_text", values: of("007", "1e5"), want: []string{"'007'", "'1e5'"}},
	{column: "c_uuid", values: of("123e4567-e89b-12d3-a456-426614174000"), want: []string{"'123e4567-e89b-12d3-a456-426614174000'"}},
	{column: "c_time", values: of("23:59:59.999999"), want: []string{"'23:59:59.999999'"}},
	{column: "c_blob", values: of([]byte{0, 0xff}, []byte{}), want: []string{"X'00FF'", "X''"}},
	{column: "c_bytea", values: of([]byte{0xff}, []byte{}), want: []string{"X'FF'", "X''"}},
	{column: "c_real", values: of(1.7976931348623157e308, -0.1), want: []string{"1.7976931348623157e+308", "-0.1"}},
	{column: "c_float", values: of(0.5), want: []string{"0.5"}},
	{column: "c_double", values: of(5e-324), want: []string{"5e-324"}, show: "CASE WHEN %s = 5e-324 THEN '5e-324' WHEN %s IS NOT NULL THEN 'default' END"},
	{column: "c_numeric", values: of("123456789012345", "1.5"), want: []string{"123456789012345", "1.5"}},
	{column: "c_decimal", values: of("-99.25"), want: []string{"-99.25"}},
	{column: "c_any", values: of[any](int64(7), "x", []byte{1}, 1.5), want: []string{"7", "'x'", "X'01'", "1.5"}},
	{column: "c_none", values: of[any]("x", int64(7)), want: []string{"'x'", "7"}},
	{column: "o_cents", values: of(custom.Cents{N: 123456}, custom.Cents{N: 5}), want: []string{"'1234.56'", "'0.05'"}},
	{column: "o_email", values: of[custom.Email]("a@b"), want: []string{"'a@b'"}},
}

var sqliteTypeWriters = typeWriters{
	plain:    func(db fencedb.Execer, t fencedb.Token) any { return sqlite.NewPlainWriter(db, t) },
	defaults: func(db fencedb.Execer, t fencedb.Token) any { return sqlite.NewDefaultsWriter(db, t) },
	nulls: func(ctx context.Context, db fencedb.Beginner, t fencedb.Token, fn func(any) error) error {
		return sqlite.InScope(ctx, db, t, func(w *sqlite.NullsTx) error { return fn(w) })
	},
}

// sqliteTypes makes the tables, and a connection in which times are written as SQLite's own
// functions read them.
func sqliteTypes(t *testing.T) database {
	db := openSQLite(t).namespace(t)("&_time_format=sqlite")
	db.script(t, "types", "sqlite", "schema.sql")
	db.withGuards(t)
	return db
}

func TestTypesSQLite(t *testing.T) {
	db := sqliteTypes(t)
	(&typeTest{t, db, db, sqliteCases, "quote(%s)"}).run(sqliteTypeWriters)
}

// TestTypesSQLiteTime has the driver write times in the way it does unless it is told, and
// reads them by the driver.
func TestTypesSQLiteTime(t *testing.T) {
	db := openSQLite(t).namespace(t)("")
	db.script(t, "types", "sqlite", "schema.sql")
	day := time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)
	w := sqlite.NewOrderByWriter(db, fencedbtest.Token("x", 1))
	row := sqlite.OrderByRow{Select: "s", AB: "x", Day: day, N: 1, Raw: []byte{1}}
	want(t, "insert", w.Insert(t.Context(), row), fencedb.Accepted, 0)
	var got time.Time
	if err := db.QueryRow(`SELECT "day" FROM "order ""by` + "`" + `"`).Scan(&got); err != nil || !got.Equal(day) {
		t.Errorf("%v, %v, want %v", got, err, day)
	}
	want(t, "update by key", w.Update(t.Context(), sqlite.OrderByKey{Select: "s", AB: "x", Day: day, N: 1, Raw: []byte{1}}, sqlite.OrderByPatch{From: fencedb.Set("y")}), fencedb.Accepted, 0)
}

func TestTypesSQLiteOthers(t *testing.T) {
	db, ctx := sqliteTypes(t), t.Context()
	token := fencedbtest.Token("x", 1)

	strict := sqlite.NewStrictOnesWriter(db, token)
	want(t, "strict", strict.Insert(ctx, sqlite.StrictOnesRow{ID: "a", A: ptr[int64](1), B: ptr[int64](2), C: ptr(0.5), D: ptr("d"), E: []byte{}, F: "1.50"}), fencedb.Accepted, 0)
	want(t, "strict, all left out", strict.Insert(ctx, sqlite.StrictOnesRow{ID: "b"}), fencedb.Accepted, 0)
	db.same(t, "integer integer real text blob text", "SELECT typeof(a) || ' ' || typeof(b) || ' ' || typeof(c) || ' ' || typeof(d) || ' ' || typeof(e) || ' ' || typeof(f) FROM strict_ones WHERE id = 'a'")
	db.same(t, "null null", "SELECT typeof(e) || ' ' || typeof(f) FROM strict_ones WHERE id = 'b'")

	w := sqlite.NewOrderByWriter(db, token)
	day := time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)
	key := sqlite.OrderByKey{Select: "s", AB: "x", Day: day, N: 1, Raw: []byte{}}
	row := sqlite.OrderByRow{Select: "s", AB: "x", Day: day, N: 1, Raw: []byte{}}
	want(t, "awkward names", w.Insert(ctx, row), fencedb.Accepted, 0)
	row.Where = ptr("null")
	want(t, "upsert", w.Upsert(ctx, row), fencedb.Accepted, 0)
	want(t, "update", w.Update(ctx, key, sqlite.OrderByPatch{From: fencedb.Set("z")}), fencedb.Accepted, 0)
	db.same(t, "z null 1", `SELECT "from" || ' ' || "where""" || ' ' || fence FROM "order ""by`+"`"+`"`)
	want(t, "delete", w.Delete(ctx, key), fencedb.Accepted, 0)

	entries := sqlite.NewEntriesWriter(db, fencedbtest.Token("a", 2))
	want(t, "in a named schema", entries.Insert(ctx, sqlite.EntriesRow{ID: "a"}), fencedb.Accepted, 0)

	g := sqlite.Guard(db)
	if err := g.Raise(ctx, token); err != nil {
		t.Fatal(err)
	}
	err := sqlite.InScope(ctx, db, token, func(w *sqlite.SerialsTx) error {
		made, err := w.Insert(ctx, sqlite.SerialsRow{N: 21})
		want(t, "key made by the database", err, fencedb.Accepted, 0)
		given, err := w.Insert(ctx, sqlite.SerialsRow{ID: fencedb.Set[int64](1 << 62), N: 1})
		want(t, "key given", err, fencedb.Accepted, 0)
		if made.ID != 1 || given.ID != 1<<62 {
			t.Errorf("keys %v, %v", made, given)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	db.same(t, "42 63", "SELECT twice || ' ' || thrice FROM serials WHERE id = 1")
}
