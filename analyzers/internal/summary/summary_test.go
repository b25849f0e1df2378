package summary_test

import (
	"fmt"
	"go/types"
	"strings"
	"testing"

	"github.com/fencelint/fence/analyzers/internal/authority"
	"github.com/fencelint/fence/analyzers/internal/irtest"
	"github.com/fencelint/fence/analyzers/internal/lease"
	"github.com/fencelint/fence/analyzers/internal/origin"
	"github.com/fencelint/fence/analyzers/internal/sink"
	"github.com/fencelint/fence/analyzers/internal/summary"
)

// nothing is a lookup that knows no other package.
type nothing struct{}

func (nothing) Func(*types.Func) *summary.Func    { return nil }
func (nothing) Stored(*types.Var) *summary.Stored { return nil }

// show describes a summary: what it says, and nothing else.
func show(f *summary.Func) string {
	var out []string
	for _, w := range f.Writes {
		s := w.Verb + " " + w.Target
		if w.Remove {
			s += " removes"
		}
		if w.Insert {
			s += " inserts"
		}
		if w.StrictOnly {
			s += " strict"
		}
		out = append(out, s)
	}
	for _, p := range f.Proofs {
		out = append(out, fmt.Sprintf("proof %d", p.Result))
	}
	for _, i := range f.OwnerArgs {
		out = append(out, fmt.Sprintf("runs %d as owner", i))
	}
	if f.Text != nil {
		out = append(out, fmt.Sprintf("text %d arguments %d", f.Text.Text, f.Text.Args))
	}
	for _, b := range f.Binds {
		out = append(out, fmt.Sprintf("binds %d to %s", b.Param, b.What))
	}
	if f.Reads {
		out = append(out, "reads")
	}
	if f.Locks {
		out = append(out, "locks")
	}
	if f.Compares {
		out = append(out, "compares")
	}
	return strings.Join(out, ", ")
}

// testdata/funcs.txtar: "-- name: summary --" and code with a function f.
func TestFunc(t *testing.T) {
	for _, c := range irtest.Cases(t, "testdata/funcs.txtar") {
		t.Run(c.Name, func(t *testing.T) {
			code := summary.New(irtest.SSA(t, "package p\n"+c.Text), nothing{}, nil, &origin.Hits{})
			f := code.Func(irtest.Func(t, code.Pkg, "f"))
			if got := show(f); got != c.Want {
				t.Errorf("got  %s\nwant %s", got, c.Want)
			}
			if f.Empty() != (c.Want == "") {
				t.Errorf("empty: %t", f.Empty())
			}
		})
	}
}

func TestMaxWrites(t *testing.T) {
	var b strings.Builder
	b.WriteString("package p\nimport \"database/sql\"\nfunc f(db *sql.DB) {\n")
	for i := range 3 * summary.MaxWrites {
		fmt.Fprintf(&b, "\tdb.Exec(\"DELETE FROM t%d\")\n", i)
	}
	b.WriteString("}\n")
	code := summary.New(irtest.SSA(t, b.String()), nothing{}, nil, &origin.Hits{})
	if n := len(code.Func(irtest.Func(t, code.Pkg, "f")).Writes); n != summary.MaxWrites {
		t.Errorf("%d writes", n)
	}
}

func TestFields(t *testing.T) {
	code := summary.New(irtest.SSA(t, `package p
import "database/sql"
type Row struct{ ID, Until string; private string }
func f(db *sql.DB) {
	var r Row
	db.QueryRow("SELECT id, locked_until, x FROM jobs").Scan(&r.ID, &r.Until, &r.private)
}
`), nothing{}, nil, &origin.Hits{})
	got := map[string]string{}
	for v, s := range code.Fields() {
		got[v.Name()] = s.String()
	}
	if fmt.Sprint(got) != "map[ID:stored jobs.id Until:stored jobs.locked_until]" {
		t.Error(got)
	}
}

func TestJoin(t *testing.T) {
	write := summary.Write{Store: sink.SQL, Verb: "UPDATE", Target: "jobs"}
	proof := authority.Proof{Result: 0, Mode: lease.True}
	plain := &summary.Func{Writes: []summary.Write{write}}
	for _, c := range []struct {
		name string
		of   []*summary.Func
		want string
	}{
		{"one", []*summary.Func{plain}, "UPDATE jobs"},
		{"two that write", []*summary.Func{plain, {Writes: []summary.Write{{Verb: "Set", Target: "k"}}}}, "UPDATE jobs"},
		{"one writes", []*summary.Func{plain, {Reads: true}}, "reads"},
		{"one compares", []*summary.Func{plain, {Compares: true}}, "compares"},
		{"both prove", []*summary.Func{{Proofs: []authority.Proof{proof}}, {Proofs: []authority.Proof{proof}}}, "proof 0"},
		{"they prove by different answers", []*summary.Func{{Proofs: []authority.Proof{proof}}, {Proofs: []authority.Proof{{Result: 0, Mode: lease.NilError}}}}, ""},
		{"both run an argument", []*summary.Func{{OwnerArgs: []int{0, 1}}, {OwnerArgs: []int{1, 2}}}, "runs 1 as owner"},
		{"both pass text on", []*summary.Func{{Text: &sink.Spec{Text: 1, Args: 2}}, {Text: &sink.Spec{Text: 1, Args: 2}}}, "text 1 arguments 2"},
		{"one passes text on elsewhere", []*summary.Func{{Text: &sink.Spec{Text: 1, Args: 2}}, {Text: &sink.Spec{Text: 0, Args: 2}}}, ""},
		{"both bind", []*summary.Func{{Binds: []summary.Bind{{Param: 1, What: "a"}}}, {Binds: []summary.Bind{{Param: 1, What: "b"}}}}, "binds 1 to a"},
		{"one binds", []*summary.Func{{Binds: []summary.Bind{{Param: 1, What: "a"}}}, plain}, ""},
		{"one locks", []*summary.Func{{Locks: true}, plain}, "locks"},
	} {
		var out *summary.Func
		for _, f := range c.of {
			before := show(f)
			out = summary.Join(out, f)
			if show(f) != before || f.Mark() != "" {
				t.Errorf("%s: joining changed what was joined", c.name)
			}
		}
		if got := show(out); got != c.want || out.Mark() == "" {
			t.Errorf("%s: %q, want %q; mark %q", c.name, got, c.want, out.Mark())
		}
	}
}

// Functions that call each other in circles have one answer, whichever is asked
// first.
func TestCircles(t *testing.T) {
	const src = `package p
import "database/sql"
func a(db *sql.DB) { b(db); c(db) }
func b(db *sql.DB) { a(db); d(db) }
func c(db *sql.DB) { d(db); db.Exec("UPDATE t SET a = 1") }
func d(db *sql.DB) { b(db); c(db); e(db); db.Exec("UPDATE u SET a = 1 WHERE epoch = 1") }
func e(db *sql.DB) { e(db); db.Exec("DELETE FROM v") }
`
	want := map[string]string{"e": "DELETE v removes"}
	for _, name := range []string{"a", "b", "c", "d"} {
		want[name] = "UPDATE t, DELETE v removes, compares"
	}
	for _, order := range []string{"abcde", "edcba", "cadbe", "dbeac", "beadc"} {
		code := summary.New(irtest.SSA(t, src), nothing{}, nil, &origin.Hits{})
		for _, r := range order {
			name := string(r)
			if got := show(code.Func(irtest.Func(t, code.Pkg, name))); got != want[name] {
				t.Errorf("%s, asked in the order %s: %q, want %q", name, order, got, want[name])
			}
		}
	}
}
