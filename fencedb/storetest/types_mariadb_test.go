package storetest

import (
	"context"
	"errors"
	"math"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/fencedbtest"
	"github.com/fencelint/fence/fencedb/storetest/types/custom"
	mariadb "github.com/fencelint/fence/fencedb/storetest/types/mariadb"
	mariadbruntime "github.com/fencelint/fence/fencedb/storetest/types/mariadbruntime"
)

// mariadbCases are the cases of a data source whose times are in a zone.
func mariadbCases(loc *time.Location) []typeCase {
	const hex = "HEX(%s)"
	clock := zoned.In(loc).Format("2006-01-02 15:04:05.000000")
	return []typeCase{
		{column: "c_tinyint", values: of[int16](-128, 127), want: []string{"-128", "127"}},
		{column: "c_smallint", values: of[int16](math.MinInt16, math.MaxInt16), want: []string{"-32768", "32767"}},
		{column: "c_mediumint", values: of[int32](-1<<23, 1<<23-1), want: []string{"-8388608", "8388607"}},
		{column: "c_int", values: of[int32](math.MinInt32, math.MaxInt32), want: []string{"-2147483648", "2147483647"}},
		{column: "c_integer", values: of[int32](math.MinInt32), want: []string{"-2147483648"}},
		{column: "c_bigint", values: of[int64](math.MinInt64, math.MaxInt64), want: []string{"-9223372036854775808", "9223372036854775807"}},
		{column: "c_utinyint", values: of[uint16](math.MaxUint8, 0), want: []string{"255", "0"}},
		{column: "c_usmallint", values: of[uint16](math.MaxUint16, 0), want: []string{"65535", "0"}},
		{column: "c_umediumint", values: of[uint32](1<<24-1, 0), want: []string{"16777215", "0"}},
		{column: "c_uint", values: of[uint32](math.MaxUint32, 0), want: []string{"4294967295", "0"}},
		{column: "c_ubigint", values: of[uint64](math.MaxUint64, 0), want: []string{"18446744073709551615", "0"}},
		{column: "c_zerofill", values: of[uint32](7, math.MaxUint32), want: []string{"000007", "4294967295"}},
		{column: "c_bool", values: of(true, false), want: []string{"1", "0"}},
		{column: "c_boolean", values: of(false, true), want: []string{"0", "1"}},
		{column: "c_tinyint1", values: of[int16](1, 127), want: []string{"1", "127"}},
		{column: "c_year", values: of[int16](2155, 1901), want: []string{"2155", "1901"}},
		{column: "c_float", values: of[float32](-0.25, 1.5e38), want: []string{"-0.25", "1.5e38"}},
		{column: "c_double", values: of(math.MaxFloat64, -0.1), want: []string{"1.7976931348623157e308", "-0.1"}},
		{column: "c_precision", values: of(0.1), want: []string{"0.1"}},
		{column: "c_real", values: of(0.1), want: []string{"0.1"}},
		{column: "c_decimal", values: of("-"+strings.Repeat("9", 35)+"."+strings.Repeat("9", 30), "0.000000000000000000000000000001"), want: []string{"-" + strings.Repeat("9", 35) + "." + strings.Repeat("9", 30), "0.000000000000000000000000000001"}},
		{column: "c_numeric", values: of("-999.9"), want: []string{"-999.9"}},
		{column: "c_udecimal", values: of("99999999.99"), want: []string{"99999999.99"}},
		{column: "c_char", values: of("ab ", "ü€"), want: []string{"6162", "C3BCE282AC"}, show: "HEX(CONVERT(%s USING utf8mb4))"}, // MariaDB cuts blanks off
		{column: "c_varchar", values: of("ab ", "it's \\"), want: []string{"616220", "69742773205C"}, show: hex},
		{column: "c_nchar", values: of("ü"), want: []string{"ü"}},
		{column: "c_nvarchar", values: of("ü"), want: []string{"ü"}},
		{column: "c_tinytext", values: of("x", ""), want: []string{"x", ""}},
		{column: "c_text", values: of("x \n\"'?", ""), want: []string{"x \n\"'?", ""}},
		{column: "c_mediumtext", values: of("x"), want: []string{"x"}},
		{column: "c_longtext", values: of(strings.Repeat("x", 1<<20), "y"), want: []string{"1048576 x", "1 y"}, show: "CONCAT(LENGTH(%s), ' ', LEFT(%s, 1))"},
		{column: "c_enum", values: also(of(mariadb.PlainCEnumItS, mariadb.PlainCEnumXY, mariadb.PlainCEnumEmpty), of(mariadb.NullsCEnumItS, mariadb.NullsCEnumXY, mariadb.NullsCEnumEmpty), of(mariadb.DefaultsCEnumItS, mariadb.DefaultsCEnumXY, mariadb.DefaultsCEnumEmpty)), want: []string{"it's", "x,y", ""}},
		{column: "c_set", values: of("a,b", "", "b"), want: []string{"a,b", "", "b"}},
		{column: "c_json", values: of(`{"a": ["ü", 1.50]}`, "null"), want: []string{`{"a": ["ü", 1.50]}`, "null"}},
		{column: "c_uuid", values: of(uuidA, uuidB), want: []string{uuidA, uuidB}},
		{column: "c_inet4", values: of("255.255.255.255"), want: []string{"255.255.255.255"}},
		{column: "c_inet6", values: of("2001:db8::1"), want: []string{"2001:db8::1"}},
		{column: "c_time", values: of("-838:59:59.999999", "23:59:59.123456"), want: []string{"-838:59:59.999999", "23:59:59.123456"}},
		{column: "c_binary", values: of([]byte{0, 0xff, '\\'}, []byte{1}), want: []string{"00FF5C", "010000"}, show: hex},
		{column: "c_varbinary", values: of([]byte{0, 0xff, '\''}, []byte{}), want: []string{"00FF27", ""}, show: hex},
		{column: "c_tinyblob", values: of([]byte{0xff}, []byte{}), want: []string{"FF", ""}, show: hex},
		{column: "c_blob", values: of([]byte{0xff}, []byte{}), want: []string{"FF", ""}, show: hex},
		{column: "c_mediumblob", values: of([]byte{0xff}, []byte{}), want: []string{"FF", ""}, show: hex},
		{column: "c_longblob", values: of([]byte{0xff}, []byte{}), want: []string{"FF", ""}, show: hex},
		{column: "c_bit", values: of([]byte{1}, []byte{0}), want: []string{"1", "0"}, show: "%s + 0"},
		{column: "c_bits", values: of([]byte{0xff, 0, 0, 0, 0, 0, 0, 1}, []byte{5}), want: []string{"18374686479671623681", "5"}, show: "%s + 0"},
		// The day that the time shows, in whichever zone the driver writes.
		{column: "c_date", values: of(zoned, time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)), want: []string{"2024-02-29", "9999-12-31"}},
		{column: "c_datetime", values: of(zoned), want: []string{clock}},
		{column: "c_timestamp", values: of(zoned), want: []string{clock}},
		{column: "o_cents", values: of(custom.Cents{N: 123456}, custom.Cents{N: 5}), want: []string{"1234.56", "0.05"}},
		{column: "o_email", values: of[custom.Email]("a@b"), want: []string{"a@b"}},
	}
}

var mariadbTypeWriters = typeWriters{
	plain:    func(db fencedb.Execer, t fencedb.Token) any { return mariadb.NewPlainWriter(db, t) },
	defaults: func(db fencedb.Execer, t fencedb.Token) any { return mariadb.NewDefaultsWriter(db, t) },
	nulls: func(ctx context.Context, db fencedb.Beginner, t fencedb.Token, fn func(any) error) error {
		return mariadb.InScope(ctx, db, t, func(w *mariadb.NullsTx) error { return fn(w) })
	},
}

// inDatabase makes a database of its own name.
func (db database) inDatabase(t testing.TB, name string) {
	t.Helper()
	quoted, err := db.dialect.Quote(name)
	if err != nil {
		t.Fatal(err)
	}
	db.exec(t, "CREATE DATABASE "+quoted)
	t.Cleanup(func() {
		if _, err := db.Exec("DROP DATABASE " + quoted); err != nil {
			t.Error(err)
		}
	})
}

// mariadbTypes makes the tables and returns what connects to them.
func mariadbTypes(t *testing.T) func(params string) database {
	connect := servers[1].open(t).namespace(t)
	db := connect("")
	db.inDatabase(t, "fence_types_named")
	db.script(t, "types", "mariadb", "schema.sql")
	db.withGuards(t)
	return connect
}

func TestTypesMariaDB(t *testing.T) {
	for name, test := range map[string]struct{ params, zone string }{
		"default":     {"", "UTC"},
		"parsed":      {"&parseTime=true", "UTC"},
		"other zone":  {"&parseTime=true", "America/New_York"},
		"interpolate": {"&interpolateParams=true", "Asia/Tokyo"},
		"found rows":  {"&clientFoundRows=true", "UTC"},
	} {
		t.Run(name, func(t *testing.T) {
			connect := mariadbTypes(t)
			loc, err := time.LoadLocation(test.zone)
			if err != nil {
				t.Fatal(err)
			}
			write := connect(test.params + "&loc=" + url.QueryEscape(test.zone))
			(&typeTest{t, write, connect(""), mariadbCases(loc), "CAST(%s AS CHAR)"}).run(mariadbTypeWriters)
			if !strings.Contains(test.params, "parseTime") {
				return
			}
			var got time.Time
			if err := write.QueryRow("SELECT c_datetime FROM plain WHERE id = 0").Scan(&got); err != nil || !got.Equal(zoned) {
				t.Errorf("the driver reads %v, %v, want %v", got, err, zoned)
			}
		})
	}
}

func TestTypesMariaDBOthers(t *testing.T) {
	connect := mariadbTypes(t)
	db, ctx := connect("&parseTime=true&loc=America%2FNew_York"), t.Context()
	token := fencedbtest.Token("x", 1)

	w := mariadb.NewOrderByWriter(db, token)
	midnight := time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)
	key := mariadb.OrderByKey{Select: "s", AB: mariadb.OrderByABItS, At: zoned, Day: midnight, CD: uuidA, N: "12345678901234567890.5", Raw: []byte{}}
	row := mariadb.OrderByRow{Select: "s", AB: mariadb.OrderByABItS, At: zoned, Day: midnight, CD: uuidA, N: "12345678901234567890.5", Raw: []byte{}}
	want(t, "awkward names", w.Insert(ctx, row), fencedb.Accepted, 0)
	row.Where = ptr("null")
	want(t, "upsert", w.Upsert(ctx, row), fencedb.Accepted, 0)
	want(t, "update", w.Update(ctx, key, mariadb.OrderByPatch{From: fencedb.Set("z")}), fencedb.Accepted, 0)
	db.same(t, "z null 1 2024-02-29", "SELECT CONCAT_WS(' ', `from`, `where```, fence, `day`) FROM `order ``by\"`")
	want(t, "delete", w.Delete(ctx, key), fencedb.Accepted, 0)

	_, err := mariadb.NewAliasesWriter(db, token).Insert(ctx, mariadb.AliasesRow{A0: math.MaxUint32, A1: "1.5", A2: "-1.5", A3: "a", A4: "b ", A5: "c", A6: "d"})
	want(t, "types by their other names", err, fencedb.Accepted, 0)
	db.same(t, "1 4294967295 1.5 -1.5 a b  c d 1", "SELECT CONCAT_WS(' ', id, a0, a1, a2, a3, a4, a5, a6, fence) FROM aliases")

	entries := mariadb.NewEntriesWriter(db, fencedbtest.Token("happy:a", 2))
	want(t, "in a named schema", entries.Insert(ctx, mariadb.EntriesRow{ID: "a", Mood: mariadb.EntriesMoodHappy}), fencedb.Accepted, 0)
	want(t, "the same", entries.Update(ctx, mariadb.EntriesKey{ID: "a"}, mariadb.EntriesPatch{}), fencedb.Accepted, 0)
	want(t, "of another mood", mariadb.NewEntriesWriter(db, fencedbtest.Token("sad:a", 2)).Delete(ctx, mariadb.EntriesKey{ID: "a"}), fencedb.WrongResource, 0)
	db.same(t, "happy", "SELECT mood FROM fence_types_named.entries")

	if err := mariadb.Guard(db).Raise(ctx, token); err != nil {
		t.Fatal(err)
	}
	err = mariadb.InScope(ctx, db, token, func(tx *mariadb.Tx) error {
		made, err := tx.Serials().Insert(ctx, mariadb.SerialsRow{N: "1.25"})
		want(t, "made by the database", err, fencedb.Accepted, 0)
		given, err := tx.Serials().Insert(ctx, mariadb.SerialsRow{ID: fencedb.Set[uint64](math.MaxUint64), N: "1"})
		want(t, "given", err, fencedb.Accepted, 0)
		if made.ID != 1 || given.ID != math.MaxUint64 {
			t.Errorf("keys %v, %v", made, given)
		}
		want(t, "update of the largest key", tx.Serials().Update(ctx, given, mariadb.SerialsPatch{N: fencedb.Set("2")}), fencedb.Accepted, 0)
		small, err := tx.Small().Insert(ctx, mariadb.SmallRow{Kind: ptr(mariadb.SmallKindB)})
		want(t, "serial", err, fencedb.Accepted, 0)
		return tx.Small().Update(ctx, small, mariadb.SmallPatch{Kind: fencedb.Null[mariadb.SmallKind]()})
	})
	want(t, "scope", err, fencedb.Accepted, 0)
	db.same(t, "2.50 3.75", "SELECT CONCAT(twice, ' ', thrice) FROM serials WHERE id = 1")
	db.same(t, "4.00", "SELECT twice FROM serials WHERE id = 18446744073709551615")
	db.same(t, "NULL", "SELECT kind FROM small")
}

// TestTypesMariaDBUnsignedFence has a fence that may hold more than any token.
func TestTypesMariaDBUnsignedFence(t *testing.T) {
	connect := mariadbTypes(t)
	for name, params := range map[string]string{"default": "", "found rows": "&clientFoundRows=true", "interpolate": "&interpolateParams=true"} {
		t.Run(name, func(t *testing.T) {
			db, ctx := connect(params), t.Context()
			db.exec(t, "DELETE FROM uuids")
			w := func(n int64) *mariadb.UuidsWriter { return mariadb.NewUuidsWriter(db, fencedbtest.Token("x", n)) }
			made, err := w(5).Insert(ctx, mariadb.UuidsRow{})
			want(t, "key made by the database", err, fencedb.Accepted, 0)
			if len(made.ID) != len(uuidA) {
				t.Errorf("key %v", made)
			}
			set := mariadb.UuidsPatch{Note: fencedb.Set("n")}
			want(t, "update", w(5).Update(ctx, made, set), fencedb.Accepted, 0)
			want(t, "the same", w(5).Update(ctx, made, set), fencedb.Accepted, 0)
			want(t, "stale", w(4).Update(ctx, made, set), fencedb.Stale, 5)
			want(t, "the largest token", w(math.MaxInt64).Update(ctx, made, set), fencedb.Accepted, 0)
			want(t, "stale", w(math.MaxInt64-1).Update(ctx, made, set), fencedb.Stale, math.MaxInt64)
			want(t, "stale delete", w(math.MaxInt64-1).Delete(ctx, made), fencedb.Stale, math.MaxInt64)
			db.exec(t, "UPDATE uuids SET fence = 18446744073709551615")
			want(t, "update below what is no token", w(math.MaxInt64).Update(ctx, made, mariadb.UuidsPatch{Note: fencedb.Set("x")}), fencedb.Stale, 0)
			db.same(t, "n", "SELECT note FROM uuids")
			if err := w(math.MaxInt64).Delete(ctx, made); !errors.Is(err, fencedb.ErrStale) {
				t.Error("a delete below what is no token is accepted")
			}
		})
	}
}

func TestTypesMariaDBRuntimeSchema(t *testing.T) {
	db, ctx := servers[1].open(t).namespace(t)(""), t.Context()
	token := fencedbtest.Token("eu:done", 4)
	for _, schema := range []string{"fence Types", "fence`types"} {
		db.inDatabase(t, schema)
		quoted := quoted(t, db, schema)
		for _, stmt := range strings.Split(readFile(t, "types", "mariadbruntime", "schema.sql"), ";\n") {
			db.exec(t, strings.Replace(stmt, "TABLE ", "TABLE "+quoted+".", 1))
		}
		g, err := fencedb.NewGuardTable(fencedb.MariaDB, fencedb.InSchema(schema))
		if err == nil {
			err = g.Create(ctx, db)
		}
		if err != nil {
			t.Fatal(err)
		}
		in := mariadbruntime.InSchema(schema)
		if err := mariadbruntime.Guard(db, in).Raise(ctx, token); err != nil {
			t.Fatal(err)
		}
		err = mariadbruntime.InScope(ctx, db, token, func(w *mariadbruntime.OrdersTx) error {
			key, err := w.Insert(ctx, mariadbruntime.OrdersRow{Region: "eu", State: mariadbruntime.OrdersStateDone})
			want(t, "insert", err, fencedb.Accepted, 0)
			want(t, "insert of another resource", second(w.Insert(ctx, mariadbruntime.OrdersRow{Region: "us", State: mariadbruntime.OrdersStateDone})), fencedb.WrongResource, 0)
			return w.Delete(ctx, key)
		}, in)
		want(t, "scope", err, fencedb.Accepted, 0)
		jobs := mariadbruntime.NewJobsWriter(db, token, in)
		want(t, "jobs", jobs.Upsert(ctx, mariadbruntime.JobsRow{ID: "a"}), fencedb.Accepted, 0)
		want(t, "jobs again", jobs.Upsert(ctx, mariadbruntime.JobsRow{ID: "a", State: fencedb.Set(mariadbruntime.JobsStateDone)}), fencedb.Accepted, 0)
		want(t, "stale", mariadbruntime.NewJobsWriter(db, fencedbtest.Token("eu:done", 3), in).Delete(ctx, mariadbruntime.JobsKey{ID: "a"}), fencedb.Stale, 4)
		db.same(t, "0 1 done", "SELECT CONCAT_WS(' ', (SELECT count(*) FROM "+quoted+".orders), count(*), max(state)) FROM "+quoted+".jobs")
	}
}
