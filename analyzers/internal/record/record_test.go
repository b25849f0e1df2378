package record_test

import (
	"fmt"
	"go/types"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/irtest"
	"github.com/fencelint/fence/analyzers/internal/origin"
	"github.com/fencelint/fence/analyzers/internal/record"
	"github.com/fencelint/fence/analyzers/internal/summary"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// nothing is a lookup that knows no other package.
type nothing struct{}

func (nothing) Func(*types.Func) *summary.Func    { return nil }
func (nothing) Stored(*types.Var) *summary.Stored { return nil }

func reader(t *testing.T, src string) (*record.Reader, ssa.Value) {
	t.Helper()
	p := irtest.SSA(t, src)
	return summary.New(p, nothing{}, nil, &origin.Hits{}).Record, irtest.Probe(t, p)
}

// show describes a datum: its name and its marks.
func show(d record.Datum) string {
	s := d.String()
	if d.Kept != nil {
		s += " kept as " + d.KeptIn.Obj().Name() + "." + d.Kept.Name()
	}
	if d.Request {
		s += " request"
	}
	if d.Lock >= sqlstmt.ForShare {
		s += " locked"
	}
	return s
}

// testdata/data.txtar: "-- name: datum, datum --" and the code.
func TestOf(t *testing.T) {
	for _, c := range irtest.Cases(t, "testdata/data.txtar") {
		t.Run(c.Name, func(t *testing.T) {
			r, v := reader(t, "package p\n"+c.Text)
			var got []string
			for _, d := range r.Of(v) {
				if s := show(d); !slices.Contains(got, s) {
					got = append(got, s)
				}
			}
			if s := strings.Join(got, ", "); s != c.Want {
				t.Errorf("got  %s\nwant %s", s, c.Want)
			}
			if again := r.Of(v); len(again) > 0 && show(again[0]) != got[0] {
				t.Error("a second look gives another answer")
			}
		})
	}
}

// What only facts say: fields that another package scans, functions that read.
func TestFacts(t *testing.T) {
	r, v := reader(t, `-- example.com/p/store/store.go --
package store
type Row struct{ Until int64 }
-- example.com/p/p.go --
package p
import "example.com/p/store"
func f(r *store.Row) { probe(r.Until) }
`)
	r.Stored = func(v *types.Var) (string, string, bool) { return "jobs", "locked_until", v.Name() == "Until" }
	if ds := r.Of(v); len(ds) != 1 || ds[0].String() != "jobs.locked_until" {
		t.Errorf("%v", ds)
	}

	r, v = reader(t, `-- example.com/p/store/store.go --
package store
type Row struct{ Until int64 }
func Load() (*Row, error) { return nil, nil }
-- example.com/p/p.go --
package p
import "example.com/p/store"
func f() { r, _ := store.Load(); probe(r.Until) }
`)
	if ds := r.Of(v); len(ds) != 0 {
		t.Errorf("without a summary: %v", ds)
	}
	r, v = reader(t, `-- example.com/p/store/store.go --
package store
type Row struct{ Until int64 }
func Load() (*Row, error) { return nil, nil }
-- example.com/p/p.go --
package p
import "example.com/p/store"
func f() { r, _ := store.Load(); probe(r.Until) }
`)
	r.Reads = func(f *types.Func) bool { return f.Name() == "Load" }
	if ds := r.Of(v); len(ds) != 1 || ds[0].String() != "Row.Until" || ds[0].Read == nil {
		t.Errorf("with one: %v", ds)
	}
}

func TestNames(t *testing.T) {
	r, v := reader(t, `package p
import ("database/sql"; "time")
type lease struct{ end time.Time }
func f(db *sql.DB) {
	var l lease
	db.QueryRow("SELECT expires_at FROM leases WHERE name = 'a'").Scan(&l.end)
	probe(l.end)
}
`)
	ds := r.Of(v)
	if len(ds) == 0 {
		t.Fatal("no data")
	}
	d := ds[0]
	got := fmt.Sprint(d.Own(), d.Carrier(), d.Names(), len(d.Where))
	if want := "[expires_at end] [leases lease] [leases expires_at end lease] 1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestFromRequest(t *testing.T) {
	for src, want := range map[string]bool{
		`func f(r *http.Request) { probe(r.FormValue("a")) }`:                                         true,
		`func f(r *http.Request) { probe(r.Header.Get("a")) }`:                                        true,
		`func f(r *http.Request) { probe(strings.TrimPrefix(r.URL.Path, "/")) }`:                      true,
		`func f(r *http.Request) { b, _ := io.ReadAll(r.Body); probe(string(b)) }`:                    true,
		`func f(r *http.Request) { g(r.FormValue("a")) }; func g(s string) { probe(s) }`:              true,
		`func f(r *http.Request) { probe(id(r)) }; func id(r *http.Request) string { return r.Host }`: true,
		`func f(v url.Values) { probe(v.Get("a")) }`:                                                  true,
		`func f(s string) { probe(s) }`:                                                               false,
		`func f(r *http.Response) { probe(r.Status) }`:                                                false,
		`func f(r *http.Request, s string) { _ = r; probe(strings.TrimSpace(s)) }`:                    false,
		`type myRequest struct{ Name string }; func f(r *myRequest) { probe(r.Name) }`:                false,
	} {
		r, v := reader(t, "package p\nimport (\"io\"; \"net/http\"; \"net/url\"; \"strings\")\nvar _ = io.EOF\nvar _ http.Request\nvar _ url.Values\nvar _ = strings.TrimSpace\n"+src)
		if got := r.FromRequest(v); got != want {
			t.Errorf("%s: %t", src, got)
		}
	}
}
