package storetest

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/fencedbtest"
)

// The packages below types have three tables with a column of every type, in one order:
// plain, where none may be NULL, nulls, where all may, and defaults, where all have a
// default. What a writer puts in is read back by plain SQL.

// A typeCase is a column of these tables.
type typeCase struct {
	column string
	values []value
	want   []string // what the values are in the database, as show has them
	show   string   // the column, %s, as a text; empty: as the dialect has it
}

// A value is what a field of any type may be set to, that of the field's own type.
type value struct{ set, null []any }

// of are values of the type that a column has in Go.
func of[T any](vs ...T) []value {
	var all []value
	for _, v := range vs {
		all = append(all, value{[]any{v, &v, fencedb.Set(v)}, []any{fencedb.Null[T]()}})
	}
	return all
}

// also are the same values where a column's type is another one in each table.
func also(all ...[]value) []value {
	merged := slices.Clone(all[0])
	for _, more := range all[1:] {
		for i, v := range more {
			merged[i].set, merged[i].null = append(merged[i].set, v.set...), append(merged[i].null, v.null...)
		}
	}
	return merged
}

// at is the nth value, and what it is in the database; they start again after the last.
func (c typeCase) at(n int) (value, string) {
	i := n % len(c.values)
	return c.values[i], c.want[i]
}

// typeWriters are the writers of the three tables.
type typeWriters struct {
	plain, defaults func(fencedb.Execer, fencedb.Token) any
	nulls           func(context.Context, fencedb.Beginner, fencedb.Token, func(any) error) error
}

// typeTest is a test of every type.
type typeTest struct {
	*testing.T
	write, read database
	cases       []typeCase
	show        string
}

func (t *typeTest) run(w typeWriters) {
	t.Helper()
	token := fencedbtest.Token("types", 1)
	t.Run("plain", func(sub *testing.T) { t.on(sub).plain(w.plain(t.write, token)) })
	t.Run("nulls", func(sub *testing.T) {
		own := t.on(sub)
		g, err := fencedb.NewGuardTable(t.write.dialect)
		if err == nil {
			err = g.On(t.write).Raise(sub.Context(), token)
		}
		if err == nil {
			err = w.nulls(sub.Context(), t.write, token, func(writer any) error { return own.nulls(writer) })
		}
		if err != nil {
			sub.Fatal(err)
		}
		own.nullsWere()
	})
	t.Run("defaults", func(sub *testing.T) { t.on(sub).defaults(w.defaults(t.write, token)) })
}

func (t *typeTest) on(sub *testing.T) *typeTest {
	own := *t
	own.T = sub
	return &own
}

// rounds is how many rows it takes to have every value.
func (t *typeTest) rounds() int {
	n := 0
	for _, c := range t.cases {
		if len(c.values) != len(c.want) {
			t.Fatalf("%s has %d values and %d texts", c.column, len(c.values), len(c.want))
		}
		n = max(n, len(c.values))
	}
	return n
}

func (t *typeTest) plain(w any) {
	n := t.rounds()
	for i := range n {
		t.ok(w, "Insert", t.fill(argType(w, "Insert", 0), i, i))
		t.has("plain", i, func(c typeCase) string { _, want := c.at(i); return want })
	}
	for i := range n {
		t.ok(w, "Update", t.key(w, i), t.fill(argType(w, "Update", 1), -1, i+1))
		t.has("plain", i, func(c typeCase) string { _, want := c.at(i + 1); return want })
		t.ok(w, "Upsert", t.fill(argType(w, "Upsert", 0), i, i))
		t.has("plain", i, func(c typeCase) string { _, want := c.at(i); return want })
	}
	t.ok(w, "Upsert", t.fill(argType(w, "Upsert", 0), 99, 0))
	t.has("plain", 99, func(c typeCase) string { _, want := c.at(0); return want })
}

// nulls writes what nullsWere expects: rows 0 and 3 have NULL in all columns.
func (t *typeTest) nulls(w any) error {
	row, patch := argType(w, "Insert", 0), argType(w, "Update", 1)
	for i := range 4 {
		t.ok(w, "Insert", t.fill(row, i, i, reflect.Zero))
	}
	t.ok(w, "Update", t.key(w, 1), t.fill(patch, -1, 1))
	t.ok(w, "Upsert", t.fill(row, 2, 2))
	t.ok(w, "Update", t.key(w, 3), t.fill(patch, -1, 3))
	t.ok(w, "Update", t.key(w, 3), t.nulled(patch))
	t.ok(w, "Upsert", t.fill(row, 4, 4))
	t.ok(w, "Insert", t.fill(row, 5, 5))
	t.ok(w, "Insert", t.fill(row, 6, 6))
	t.ok(w, "Upsert", t.fill(row, 6, 6, reflect.Zero))
	return nil
}

func (t *typeTest) nullsWere() {
	for _, i := range []int{0, 3, 6} {
		t.has("nulls", i, func(typeCase) string { return "NULL" })
	}
	for _, i := range []int{1, 2, 4, 5} {
		t.has("nulls", i, func(c typeCase) string { _, want := c.at(i); return want })
	}
}

func (t *typeTest) defaults(w any) {
	if _, err := t.read.Exec("INSERT INTO defaults (id) VALUES (100)"); err != nil {
		t.Fatal(err)
	}
	made := t.texts("defaults", 100)
	row := argType(w, "Insert", 0)
	t.ok(w, "Insert", t.fill(row, 0, 0, reflect.Zero))
	t.hasTexts("defaults", 0, made)
	first := func(c typeCase) string { _, want := c.at(0); return want }
	t.ok(w, "Upsert", t.fill(row, 0, 0))
	t.has("defaults", 0, first)
	t.ok(w, "Upsert", t.fill(row, 0, 0, reflect.Zero)) // left out: they keep their values
	t.has("defaults", 0, first)
	t.ok(w, "Update", t.key(w, 0), t.fill(argType(w, "Update", 1), -1, 1))
	t.has("defaults", 0, func(c typeCase) string { _, want := c.at(1); return want })
	t.ok(w, "Insert", t.fill(row, 1, 1))
	t.has("defaults", 1, func(c typeCase) string { _, want := c.at(1); return want })
	t.ok(w, "Upsert", t.fill(row, 2, 0, reflect.Zero))
	t.hasTexts("defaults", 2, made)
}

// argType is the type of an argument of a method, after the context.
func argType(w any, method string, n int) reflect.Type {
	return reflect.ValueOf(w).MethodByName(method).Type().In(n + 1)
}

// ok calls a method, which has to succeed.
func (t *typeTest) ok(w any, method string, args ...reflect.Value) {
	t.Helper()
	out := reflect.ValueOf(w).MethodByName(method).Call(append([]reflect.Value{reflect.ValueOf(t.Context())}, args...))
	if err, _ := out[len(out)-1].Interface().(error); err != nil {
		t.Fatalf("%s: %v", method, err)
	}
}

func (t *typeTest) key(w any, id int) reflect.Value {
	key := reflect.New(argType(w, "Update", 0)).Elem()
	key.Field(0).SetInt(int64(id))
	return key
}

// fill is a row with an id, or without one a patch, of the nth values; or of what made
// makes instead.
func (t *typeTest) fill(typ reflect.Type, id, n int, made ...func(reflect.Type) reflect.Value) reflect.Value {
	t.Helper()
	return t.fields(typ, id, func(c typeCase, f reflect.Type) reflect.Value {
		if len(made) > 0 {
			return made[0](f)
		}
		v, _ := c.at(n)
		return t.pick(c, v.set, f)
	})
}

// nulled is a patch that sets everything to NULL.
func (t *typeTest) nulled(typ reflect.Type) reflect.Value {
	return t.fields(typ, -1, func(c typeCase, f reflect.Type) reflect.Value { return t.pick(c, c.values[0].null, f) })
}

func (t *typeTest) fields(typ reflect.Type, id int, each func(typeCase, reflect.Type) reflect.Value) reflect.Value {
	v, first := reflect.New(typ).Elem(), 0
	if id >= 0 {
		v.Field(0).SetInt(int64(id))
		first = 1
	}
	if v.NumField() != first+len(t.cases) {
		t.Fatalf("%s has %d fields, and there are %d cases", typ, v.NumField(), len(t.cases))
	}
	for i, c := range t.cases {
		f := v.Field(first + i)
		f.Set(each(c, f.Type()))
	}
	return v
}

func (t *typeTest) pick(c typeCase, from []any, f reflect.Type) reflect.Value {
	for _, v := range from {
		if f.Kind() == reflect.Interface || reflect.TypeOf(v) == f {
			return reflect.ValueOf(v)
		}
	}
	t.Fatalf("%s is %v, and its values are %T", c.column, f, from[0])
	return reflect.Value{}
}

// texts are the columns of a row.
func (t *typeTest) texts(table string, id int) []string {
	t.Helper()
	shown, dest := make([]string, len(t.cases)), make([]any, len(t.cases))
	for i, c := range t.cases {
		show := c.show
		if show == "" {
			show = t.show
		}
		shown[i], dest[i] = strings.ReplaceAll(show, "%s", c.column), new(sql.NullString)
	}
	query := fmt.Sprintf("SELECT %s FROM %s WHERE id = %d", strings.Join(shown, ", "), table, id)
	if err := t.read.QueryRow(query).Scan(dest...); err != nil {
		t.Fatalf("row %d of %s: %v", id, table, err)
	}
	texts := make([]string, len(dest))
	for i, d := range dest {
		texts[i] = "NULL"
		if s := d.(*sql.NullString); s.Valid {
			texts[i] = s.String
		}
	}
	return texts
}

func (t *typeTest) has(table string, id int, want func(typeCase) string) {
	t.Helper()
	texts := make([]string, len(t.cases))
	for i, c := range t.cases {
		texts[i] = want(c)
	}
	t.hasTexts(table, id, texts)
}

func (t *typeTest) hasTexts(table string, id int, want []string) {
	t.Helper()
	for i, got := range t.texts(table, id) {
		if got != want[i] {
			t.Errorf("row %d of %s: %s is %q, want %q", id, table, t.cases[i].column, got, want[i])
		}
	}
}

// script runs the statements of a file of SQL that have no semicolon at the end of a line
// but their last.
func (db database) script(t testing.TB, path ...string) {
	t.Helper()
	for _, stmt := range strings.Split(readFile(t, path...), ";\n") {
		db.exec(t, stmt)
	}
}

func (db database) exec(t testing.TB, stmt string) {
	t.Helper()
	if strings.TrimSpace(stmt) == "" {
		return
	}
	if _, err := db.ExecContext(t.Context(), stmt); err != nil {
		t.Fatalf("%s: %v", stmt, err)
	}
}

// withGuards makes the table of guard rows.
func (db database) withGuards(t testing.TB) {
	t.Helper()
	g, err := fencedb.NewGuardTable(db.dialect)
	if err == nil {
		err = g.Create(t.Context(), db)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// one is the answer to a query, as a text.
func (db database) one(t testing.TB, query string, args ...any) string {
	t.Helper()
	var text sql.NullString
	if err := db.QueryRow(query, args...).Scan(&text); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	if !text.Valid {
		return "NULL"
	}
	return text.String
}

// same compares what is in the database.
func (db database) same(t testing.TB, want, query string) {
	t.Helper()
	if got := db.one(t, query); got != want {
		t.Errorf("%s: %q, want %q", query, got, want)
	}
}

func readFile(t testing.TB, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
