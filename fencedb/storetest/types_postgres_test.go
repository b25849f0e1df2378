package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/fencedbtest"
	"github.com/fencelint/fence/fencedb/storetest/types/custom"
	postgres "github.com/fencelint/fence/fencedb/storetest/types/postgres"
	postgresruntime "github.com/fencelint/fence/fencedb/storetest/types/postgresruntime"
)

const (
	uuidA = "123e4567-e89b-12d3-a456-426614174000"
	uuidB = "ffffffff-ffff-ffff-ffff-ffffffffffff"
)

var postgresCases = []typeCase{
	{column: "c_smallint", values: of[int16](math.MinInt16, math.MaxInt16), want: []string{"-32768", "32767"}},
	{column: "c_integer", values: of[int32](math.MinInt32, math.MaxInt32), want: []string{"-2147483648", "2147483647"}},
	{column: "c_bigint", values: of[int64](math.MinInt64, math.MaxInt64), want: []string{"-9223372036854775808", "9223372036854775807"}},
	{column: "c_real", values: of(float32(math.MaxFloat32), float32(math.Inf(-1))), want: []string{"3.4028235e+38", "-Infinity"}},
	{column: "c_double", values: of(math.MaxFloat64, math.SmallestNonzeroFloat64, math.NaN()), want: []string{"1.7976931348623157e+308", "5e-324", "NaN"}},
	{column: "c_float", values: of(-0.1), want: []string{"-0.1"}},
	{column: "c_boolean", values: of(true, false), want: []string{"true", "false"}},
	{column: "c_bytea", values: of([]byte{0, 0xff, '\\'}, []byte{}), want: []string{`\x00ff5c`, `\x`}},
	{column: "c_text", values: of("it's \\ \"ü€😀\"\n$1", ""), want: []string{"it's \\ \"ü€😀\"\n$1", ""}},
	{column: "c_varchar", values: of("ü€😀  ", ""), want: []string{"ü€😀  ", ""}},
	{column: "c_char", values: of("ab", "abcde"), want: []string{"ab   |", "abcde|"}, show: `%s::bpchar::text || CASE WHEN %s IS NULL THEN NULL ELSE repeat(' ', 5 - length(%s)) || '|' END`},
	{column: "c_bpchar", values: of("ab"), want: []string{"ab"}},
	{column: "c_citext", values: of("AbC", "null"), want: []string{"AbC", "null"}},
	{column: "c_name", values: of("n\"m"), want: []string{"n\"m"}},
	{column: "c_enum", values: of(postgres.MoodHappy, postgres.MoodItSFine), want: []string{"happy", `it's "fine", \`}},
	{column: "c_uuid", values: of(uuidA, uuidB), want: []string{uuidA, uuidB}},
	{column: "c_numeric", values: of("-"+strings.Repeat("9", 200)+".0000000000000000000000000000000000000000000001", "NaN", "1.500"), want: []string{"-" + strings.Repeat("9", 200) + ".0000000000000000000000000000000000000000000001", "NaN", "1.500"}},
	{column: "c_exact", values: of("12345678901234567890.12345678901234567890"), want: []string{"12345678901234567890.12345678901234567890"}},
	{column: "c_decimal", values: of("-999.9"), want: []string{"-999.9"}},
	{column: "c_money", values: of("-92233720368547758.08", "1.50"), want: []string{"-92233720368547758.08", "1.50"}, show: "%s::numeric::text"},
	{column: "c_interval", values: of("1 year 2 mons 3 days 04:05:06.789", "-00:00:00.000001"), want: []string{"1 year 2 mons 3 days 04:05:06.789", "-00:00:00.000001"}},
	{column: "c_xml", values: of("<a b=\"c\">ü</a>"), want: []string{"<a b=\"c\">ü</a>"}},
	{column: "c_time", values: of("23:59:59.999999", "24:00:00"), want: []string{"23:59:59.999999", "24:00:00"}},
	{column: "c_timetz", values: of("23:59:59.999+05:30"), want: []string{"23:59:59.999+05:30"}},
	{column: "c_inet", values: of("10.1.2.3/8", "::1"), want: []string{"10.1.2.3/8", "::1/128"}},
	{column: "c_cidr", values: of("2001:db8::/32"), want: []string{"2001:db8::/32"}},
	{column: "c_macaddr", values: of("08:00:2b:01:02:03"), want: []string{"08:00:2b:01:02:03"}},
	{column: "c_macaddr8", values: of("08:00:2b:01:02:03:04:05"), want: []string{"08:00:2b:01:02:03:04:05"}},
	{column: "c_bit", values: of("101", "000"), want: []string{"101", "000"}},
	{column: "c_varbit", values: of("10101", ""), want: []string{"10101", ""}},
	{column: "c_tsvector", values: of("'a':1 'b':2"), want: []string{"'a':1 'b':2"}},
	{column: "c_tsquery", values: of("'a' & !'b'"), want: []string{"'a' & !'b'"}},
	{column: "c_ltree", values: of("top.sub_1"), want: []string{"top.sub_1"}},
	{column: "c_hstore", values: of(`"a b"=>"1", "c"=>NULL`), want: []string{`"c"=>NULL, "a b"=>"1"`}},
	{column: "c_jsonpath", values: of(`$."a"[*]?(@ > 1)`), want: []string{`$."a"[*]?(@ > 1)`}},
	{column: "c_oid", values: of[uint32](math.MaxUint32, 0), want: []string{"4294967295", "0"}},
	{column: "c_xid8", values: of[uint64](math.MaxUint64, 1), want: []string{"18446744073709551615", "1"}},
	{column: "c_lsn", values: of("FFFFFFFF/FFFFFFFF"), want: []string{"FFFFFFFF/FFFFFFFF"}},
	{column: "c_snapshot", values: of("10:20:10,14,15"), want: []string{"10:20:10,14,15"}},
	{column: "c_txid_snapshot", values: of("10:20:10,14,15"), want: []string{"10:20:10,14,15"}},
	{column: "c_int4range", values: of("[-2147483648,5)", "empty", "(,)"), want: []string{"[-2147483648,5)", "empty", "(,)"}},
	{column: "c_int8range", values: of("[1,9223372036854775807)"), want: []string{"[1,9223372036854775807)"}},
	{column: "c_numrange", values: of("(1.5,2.5]"), want: []string{"(1.5,2.5]"}},
	{column: "c_tsrange", values: of(`["2024-02-29 01:02:03",)`), want: []string{`["2024-02-29 01:02:03",)`}},
	{column: "c_tstzrange", values: of(`["2024-02-29 01:02:03+02",)`), want: []string{`["2024-02-28 23:02:03+00",)`}},
	{column: "c_daterange", values: of("[2024-02-29,2024-03-02)"), want: []string{"[2024-02-29,2024-03-02)"}},
	{column: "c_int4multirange", values: of("{[1,3),[5,7)}"), want: []string{"{[1,3),[5,7)}"}},
	{column: "c_int8multirange", values: of("{[1,3),[5,7)}"), want: []string{"{[1,3),[5,7)}"}},
	{column: "c_nummultirange", values: of("{[1,3),[5,7)}"), want: []string{"{[1,3),[5,7)}"}},
	{column: "c_tsmultirange", values: of(`{["2024-02-29 01:02:03",)}`), want: []string{`{["2024-02-29 01:02:03",)}`}},
	{column: "c_tstzmultirange", values: of(`{["2024-02-29 01:02:03+02",)}`), want: []string{`{["2024-02-28 23:02:03+00",)}`}},
	{column: "c_datemultirange", values: of("{[2024-02-29,2024-03-02)}"), want: []string{"{[2024-02-29,2024-03-02)}"}},
	{column: "c_point", values: of("(1.5,-2)"), want: []string{"(1.5,-2)"}},
	{column: "c_line", values: of("{1,2,3}"), want: []string{"{1,2,3}"}},
	{column: "c_lseg", values: of("[(1,2),(3,4)]"), want: []string{"[(1,2),(3,4)]"}},
	{column: "c_box", values: of("(3,4),(1,2)"), want: []string{"(3,4),(1,2)"}},
	{column: "c_path", values: of("((1,2),(3,4))"), want: []string{"((1,2),(3,4))"}},
	{column: "c_polygon", values: of("((1,2),(3,4),(5,6))"), want: []string{"((1,2),(3,4),(5,6))"}},
	{column: "c_circle", values: of("<(1,2),3>"), want: []string{"<(1,2),3>"}},
	{column: "c_date", values: of(zoned, early), want: []string{"2024-02-29", "0001-01-02"}},
	// A timestamp without zone is what the clock of the time shows.
	{column: "c_timestamp", values: of(zoned, early), want: []string{"2024-02-29 23:59:59.123456", "0001-01-02 00:00:00"}},
	{column: "c_timestamptz", values: of(zoned, early), want: []string{"2024-02-29 18:29:59.123456+00", "0001-01-02 00:00:00+00"}},
	{column: "c_json", values: of(json.RawMessage(`{"a": [1.50, "ü\u0000"]}`), json.RawMessage("null")), want: []string{`{"a": [1.50, "ü\u0000"]}`, "null"}},
	{column: "c_jsonb", values: of(json.RawMessage(`{"a":"ü"}`), json.RawMessage("null"), json.RawMessage(`"text"`)), want: []string{`{"a": "ü"}`, "null", `"text"`}},
	{column: "c_domain", values: of("99999999.99"), want: []string{"99999999.99"}},
	{column: "c_email", values: of[custom.Email]("A@b"), want: []string{"A@b"}},
	{column: "c_known_mood", values: of(postgres.MoodItSFine), want: []string{`it's "fine", \`}},
	{column: "c_tags", values: of([]string{"a", "b,c"}, []string{}), want: []string{`{a,"b,c"}`, "{}"}},
	{column: "a_smallint", values: of([]int16{math.MinInt16, 1}, []int16{}), want: []string{"{-32768,1}", "{}"}},
	{column: "a_integer", values: of([]int32{math.MaxInt32}), want: []string{"{2147483647}"}},
	{column: "a_bigint", values: of([]int64{math.MinInt64, math.MaxInt64}), want: []string{"{-9223372036854775808,9223372036854775807}"}},
	{column: "a_real", values: of([]float32{math.MaxFloat32, float32(math.Inf(1))}), want: []string{"{3.4028235e+38,Infinity}"}},
	{column: "a_double", values: of([]float64{math.MaxFloat64, math.NaN(), math.Inf(-1), 0.1}), want: []string{"{1.7976931348623157e+308,NaN,-Infinity,0.1}"}},
	{column: "a_boolean", values: of([]bool{true, false}), want: []string{"{t,f}"}},
	{column: "a_bytea", values: of([][]byte{{0, 0xff}, {}, nil}, [][]byte{}), want: []string{`{"\\x00ff","\\x",NULL}`, "{}"}},
	{column: "a_text", values: of([]string{"", "NULL", `a"b\c`, "{x}", "ü, €", " "}, []string{}), want: []string{`{"","NULL","a\"b\\c","{x}","ü, €"," "}`, "{}"}},
	{column: "a_varchar", values: of([]string{"x"}), want: []string{"{x}"}},
	{column: "a_enum", values: of([]postgres.Mood{postgres.MoodSoSo, postgres.MoodItSFine}, []postgres.Mood{}), want: []string{`{"so so","it's \"fine\", \\"}`, "{}"}},
	{column: "a_known_mood", values: of([]postgres.Mood{postgres.MoodHappy}), want: []string{"{happy}"}},
	{column: "a_email", values: of([]custom.Email{"a@b", "c@d"}), want: []string{"{a@b,c@d}"}},
	{column: "a_uuid", values: of([]string{uuidA, uuidB}, []string{}), want: []string{"{" + uuidA + "," + uuidB + "}", "{}"}},
	{column: "a_numeric", values: of([]string{"12345678901234567890.12345678901234567890", "NaN", "-0.10"}), want: []string{"{12345678901234567890.12345678901234567890,NaN,-0.10}"}},
	{column: "a_interval", values: of([]string{"1 day", "-00:00:01"}), want: []string{`{"1 day",-00:00:01}`}},
	{column: "a_inet", values: of([]string{"10.0.0.1", "::1"}), want: []string{"{10.0.0.1,::1}"}},
	{column: "a_date", values: of([]time.Time{zoned, early}), want: []string{"{2024-02-29,0001-01-02}"}},
	{column: "a_timestamp", values: of([]time.Time{zoned, early}, []time.Time{}), want: []string{`{"2024-02-29 23:59:59.123456","0001-01-02 00:00:00"}`, "{}"}},
	{column: "a_timestamptz", values: of([]time.Time{zoned, early}, []time.Time{}), want: []string{`{"2024-02-29 18:29:59.123456+00","0001-01-02 00:00:00+00"}`, "{}"}},
	{column: "a_json", values: of([]json.RawMessage{json.RawMessage(`{"a": "b\\c"}`), json.RawMessage("null"), nil}), want: []string{`{"{\"a\": \"b\\\\c\"}","null",NULL}`}},
	{column: "a_jsonb", values: of([]json.RawMessage{json.RawMessage(`[1]`)}), want: []string{`{[1]}`}},
	{column: "a_oid", values: of([]uint32{math.MaxUint32}), want: []string{"{4294967295}"}},
	{column: "a_int4range", values: of([]string{"[1,2)", "empty"}), want: []string{`{"[1,2)",empty}`}},
	{column: "o_cents", values: of(custom.Cents{N: 123456}, custom.Cents{N: 5}), want: []string{"1234.56", "0.05"}},
}

var postgresTypeWriters = typeWriters{
	plain:    func(db fencedb.Execer, t fencedb.Token) any { return postgres.NewPlainWriter(db, t) },
	defaults: func(db fencedb.Execer, t fencedb.Token) any { return postgres.NewDefaultsWriter(db, t) },
	nulls: func(ctx context.Context, db fencedb.Beginner, t fencedb.Token, fn func(any) error) error {
		return postgres.InScope(ctx, db, t, func(w *postgres.NullsTx) error { return fn(w) })
	},
}

// postgresTypes makes the tables and returns what connects to them.
func postgresTypes(t *testing.T) func(params string) database {
	connect := servers[0].open(t).namespace(t)
	db := connect("&timezone=UTC")
	for _, extension := range []string{"citext", "ltree", "hstore"} {
		db.exec(t, "CREATE EXTENSION IF NOT EXISTS "+extension+" SCHEMA public")
	}
	t.Cleanup(func() {
		if _, err := db.Exec("DROP SCHEMA IF EXISTS fence_types_named CASCADE"); err != nil {
			t.Error(err)
		}
	})
	db.script(t, "types", "postgres", "schema.sql")
	db.withGuards(t)
	return connect
}

func TestTypesPostgres(t *testing.T) {
	for name, params := range map[string]string{
		"default":         "",
		"other zone":      "&timezone=Asia/Tokyo&datestyle=SQL",
		"describe":        "&default_query_exec_mode=cache_describe",
		"simple protocol": "&default_query_exec_mode=simple_protocol",
	} {
		t.Run(name, func(t *testing.T) {
			connect := postgresTypes(t)
			(&typeTest{t, connect(params), connect("&timezone=UTC"), postgresCases, "%s::text"}).run(postgresTypeWriters)
		})
	}
}

func TestTypesPostgresOthers(t *testing.T) {
	connect := postgresTypes(t)
	db, ctx := connect("&timezone=UTC"), t.Context()
	token := fencedbtest.Token("x", 1)

	w := postgres.NewOrderByWriter(db, token)
	key := postgres.OrderByKey{Select: "s", AB: postgres.MoodSoSo, At: zoned, Day: zoned, CD: uuidA, N: "12345678901234567890.5", Raw: []byte{}}
	row := postgres.OrderByRow{Select: "s", AB: postgres.MoodSoSo, At: zoned, Day: zoned, CD: uuidA, N: "12345678901234567890.5", Raw: []byte{}}
	want(t, "awkward names", w.Insert(ctx, row), fencedb.Accepted, 0)
	row.Where = json.RawMessage("null")
	want(t, "upsert", w.Upsert(ctx, row), fencedb.Accepted, 0)
	want(t, "update", w.Update(ctx, key, postgres.OrderByPatch{From: fencedb.Set("z")}), fencedb.Accepted, 0)
	db.same(t, "z null 1", `SELECT concat("from", ' ', "where""", ' ', fence) FROM "order ""by`+"`"+`"`)
	want(t, "delete", w.Delete(ctx, key), fencedb.Accepted, 0)

	uuids := postgres.NewUuidsWriter(db, token)
	made, err := uuids.Insert(ctx, postgres.UuidsRow{})
	want(t, "key made by the database", err, fencedb.Accepted, 0)
	given, err := uuids.Insert(ctx, postgres.UuidsRow{ID: fencedb.Set(uuidA), At: fencedb.Set(zoned), Note: ptr("n")})
	want(t, "key given", err, fencedb.Accepted, 0)
	if len(made.ID) != len(uuidA) || given.ID != uuidA {
		t.Errorf("keys %v, %v", made, given)
	}
	want(t, "update by the key that was made", uuids.Update(ctx, made, postgres.UuidsPatch{At: fencedb.Set(zoned)}), fencedb.Accepted, 0)
	db.same(t, "2024-02-29 18:29:59.123456+00", "SELECT min(at)::text FROM uuids")

	_, err = postgres.NewAliasesWriter(db, token).Insert(ctx, postgres.AliasesRow{
		A0: math.MinInt16, A1: math.MinInt32, A2: math.MaxInt32, A3: math.MinInt64, A4: 0.5, A5: 0.1, A6: true, A7: "a", A8: "b", A9: "c", A10: "d",
		A11: "e", A12: "f", A13: "g", A14: "h", A15: "1.5", A16: "01:02:03", A17: "01:02:03+02", A18: zoned, A19: "101",
	})
	want(t, "types by their other names", err, fencedb.Accepted, 0)
	db.same(t, "(1,1,1,-32768,-2147483648,2147483647,-9223372036854775808,0.5,0.1,t,a,\"b \",\"c \",\"d \",\"e \",f,g,h,1.5,01:02:03,01:02:03+02,\"2024-02-29 23:59:59.123456\",101,1)", "SELECT aliases::text FROM aliases")

	entries := postgres.NewEntriesWriter(db, fencedbtest.Token("happy:a", 2))
	want(t, "in a named schema", entries.Insert(ctx, postgres.EntriesRow{ID: "a", Mood: postgres.MoodHappy}), fencedb.Accepted, 0)
	want(t, "the same", entries.Update(ctx, postgres.EntriesKey{ID: "a"}, postgres.EntriesPatch{}), fencedb.Accepted, 0)
	want(t, "of another mood", postgres.NewEntriesWriter(db, fencedbtest.Token("sad:a", 2)).Delete(ctx, postgres.EntriesKey{ID: "a"}), fencedb.WrongResource, 0)
	db.same(t, "happy", "SELECT mood FROM fence_types_named.entries")

	always := fencedbtest.Token("always", 3)
	if err := errors.Join(postgres.Guard(db).Raise(ctx, token), postgres.Guard(db).Raise(ctx, always)); err != nil {
		t.Fatal(err)
	}
	err = postgres.InScope(ctx, db, token, func(w *postgres.SerialsTx) error {
		made, err := w.Insert(ctx, postgres.SerialsRow{N: "1.25"})
		want(t, "made by the database", err, fencedb.Accepted, 0)
		given, err := w.Insert(ctx, postgres.SerialsRow{ID: fencedb.Set[int64](math.MaxInt64), A: fencedb.Set[int32](-1), B: fencedb.Set[int16](-2), C: fencedb.Set[int32](-3), N: "1"})
		want(t, "given", err, fencedb.Accepted, 0)
		if made.ID != 1 || given.ID != math.MaxInt64 {
			t.Errorf("keys %v, %v", made, given)
		}
		return nil
	})
	want(t, "scope", err, fencedb.Accepted, 0)
	db.same(t, "1 1 1 1 2.50; -1 -2 -3 2 2", "SELECT string_agg(concat_ws(' ', a, b, c, d, e), '; ' ORDER BY id) FROM serials")
	err = postgres.InScope(ctx, db, always, func(w *postgres.AlwaysTx) error {
		made, err := w.Insert(ctx, postgres.AlwaysRow{})
		if made.ID != 1 {
			t.Errorf("key %v", made)
		}
		want(t, "insert", err, fencedb.Accepted, 0)
		return w.Update(ctx, made, postgres.AlwaysPatch{Mood: fencedb.Set(postgres.MoodSad)})
	})
	want(t, "identity always", err, fencedb.Accepted, 0)
	db.same(t, "sad", "SELECT mood FROM always")
}

// TestTypesPostgresTrigger applies the migration that fence gen made: the trigger rejects
// what carries no token or a stale one, and nothing that a writer of the package sends.
func TestTypesPostgresTrigger(t *testing.T) {
	connect := postgresTypes(t)
	db, ctx := connect("&default_query_exec_mode=simple_protocol"), t.Context()
	db.exec(t, `DROP TABLE fence_guards`)
	db.exec(t, readFile(t, "types", "postgres", "migrations", "fence.sql"))
	db = connect("")
	w := func(n int64) *postgres.WatchedWriter { return postgres.NewWatchedWriter(db, fencedbtest.Token("x", n)) }
	key, row := postgres.WatchedKey{ID: 1, Part: "p"}, postgres.WatchedRow{ID: 1, Part: "p", Moods: []postgres.Mood{postgres.MoodSad}}
	set := postgres.WatchedPatch{Moods: fencedb.Set([]postgres.Mood{postgres.MoodHappy})}
	want(t, "insert", w(5).Insert(ctx, row), fencedb.Accepted, 0)
	want(t, "update", w(6).Update(ctx, key, set), fencedb.Accepted, 0)
	want(t, "empty patch", w(7).Update(ctx, key, postgres.WatchedPatch{}), fencedb.Accepted, 0)
	want(t, "NULL", w(7).Update(ctx, key, postgres.WatchedPatch{Moods: fencedb.Null[[]postgres.Mood]()}), fencedb.Accepted, 0)
	want(t, "stale update", w(6).Update(ctx, key, set), fencedb.Stale, 7)
	want(t, "stale upsert", w(6).Upsert(ctx, row), fencedb.Stale, 7)
	want(t, "stale delete", w(6).Delete(ctx, key), fencedb.Stale, 7)
	want(t, "upsert", w(8).Upsert(ctx, row), fencedb.Accepted, 0)
	db.same(t, "{sad} 8", "SELECT concat(moods, ' ', fence) FROM watched")
	for _, stmt := range []string{"INSERT INTO watched (id, part) VALUES (2, 'p')", "UPDATE watched SET fence = 99", "DELETE FROM watched", "TRUNCATE watched"} {
		if _, err := db.ExecContext(ctx, stmt); err == nil || !strings.Contains(err.Error(), "fence:unfenced:watched") {
			t.Errorf("%s without a token: %v", stmt, err)
		}
	}
	// A statement that carries a stale token and compares nothing itself.
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = tx.ExecContext(ctx, "SELECT set_config('fence.token', '7', true)")
	if err == nil {
		_, err = tx.ExecContext(ctx, "UPDATE watched SET moods = NULL")
	}
	if err == nil || !strings.Contains(err.Error(), "fence:stale:watched") {
		t.Errorf("a stale token: %v", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Error(err)
	}
	want(t, "delete", w(8).Delete(ctx, key), fencedb.Accepted, 0)
}

func TestTypesPostgresRuntimeSchema(t *testing.T) {
	server := servers[0].open(t)
	db, ctx := server.namespace(t)(""), t.Context()
	token := fencedbtest.Token("eu:done", 4)
	for _, schema := range []string{"fence Types", `fence"types`} {
		quoted := quoted(t, db, schema)
		db.exec(t, "CREATE SCHEMA "+quoted)
		t.Cleanup(func() {
			if _, err := db.Exec("DROP SCHEMA " + quoted + " CASCADE"); err != nil {
				t.Error(err)
			}
		})
		for _, stmt := range strings.Split(readFile(t, "types", "postgresruntime", "schema.sql"), ";\n") {
			db.exec(t, strings.NewReplacer("TABLE ", "TABLE "+quoted+".", "TYPE ", "TYPE "+quoted+".", "state NOT", quoted+".state NOT", "state[]", quoted+".state[]").Replace(stmt))
		}
		g, err := fencedb.NewGuardTable(fencedb.Postgres, fencedb.InSchema(schema))
		if err == nil {
			err = g.Create(ctx, db)
		}
		if err != nil {
			t.Fatal(err)
		}
		in := postgresruntime.InSchema(schema)
		if err := postgresruntime.Guard(db, in).Raise(ctx, token); err != nil {
			t.Fatal(err)
		}
		err = postgresruntime.InScope(ctx, db, token, func(w *postgresruntime.OrdersTx) error {
			key, err := w.Insert(ctx, postgresruntime.OrdersRow{Region: "eu", State: postgresruntime.StateDone, States: []postgresruntime.State{postgresruntime.StateNew}})
			want(t, "insert", err, fencedb.Accepted, 0)
			want(t, "insert of another resource", second(w.Insert(ctx, postgresruntime.OrdersRow{Region: "us", State: postgresruntime.StateDone})), fencedb.WrongResource, 0)
			return w.Update(ctx, key, postgresruntime.OrdersPatch{States: fencedb.Set([]postgresruntime.State{})})
		}, in)
		want(t, "scope", err, fencedb.Accepted, 0)
		jobs := postgresruntime.NewJobsWriter(db, token, in)
		want(t, "jobs", jobs.Upsert(ctx, postgresruntime.JobsRow{ID: "a"}), fencedb.Accepted, 0)
		want(t, "stale", postgresruntime.NewJobsWriter(db, fencedbtest.Token("eu:done", 3), in).Delete(ctx, postgresruntime.JobsKey{ID: "a"}), fencedb.Stale, 4)
		db.same(t, "1 1 new", "SELECT concat((SELECT count(*) FROM "+quoted+".orders), ' ', count(*), ' ', max(state)) FROM "+quoted+".jobs")
	}
}

// second is the error of a call that returns more.
func second[T any](_ T, err error) error { return err }
