package sink_test

import (
	"fmt"
	"go/types"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/irtest"
	"github.com/fencelint/fence/analyzers/internal/origin"
	"github.com/fencelint/fence/analyzers/internal/sink"
	"github.com/fencelint/fence/analyzers/internal/sqltext"
	"github.com/fencelint/fence/internal/sqlstmt"
)

func reader(p *ir.Package) *sink.Reader {
	return &sink.Reader{Pkg: p, Text: sqltext.New(p), Trace: &origin.Tracer{Pkg: p}}
}

// sites lists the sites of a package in the order of the source: "Redis Set k:
// plain". Marks are "strict" and "insert".
func sites(p *ir.Package, r *sink.Reader) []string {
	var out []string
	for _, fn := range p.Funcs {
		for _, b := range fn.Blocks {
			for _, in := range b.Instrs {
				c, ok := in.(ssa.CallInstruction)
				if !ok {
					continue
				}
				s := r.Site(c)
				if s == nil {
					continue
				}
				line := fmt.Sprintf("%s %s %s: %s", s.Spec.Store, s.Verb, s.Target, judgements[s.Judge])
				if s.StrictOnly {
					line += " strict"
				}
				if s.Insert {
					line += " insert"
				}
				out = append(out, line)
			}
		}
	}
	return out
}

// testdata/sites.txtar: "-- name --", the code, and the sites wanted as comments
// "//= site" in the order of the source.
func TestSites(t *testing.T) {
	for _, c := range irtest.Cases(t, "testdata/sites.txtar") {
		t.Run(c.Name, func(t *testing.T) {
			p := irtest.SSA(t, "package p\n"+c.Text)
			var want []string
			for line := range strings.Lines(c.Text) {
				if _, s, ok := strings.Cut(line, "//= "); ok {
					want = append(want, strings.TrimSpace(s))
				}
			}
			got := sites(p, reader(p))
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
			}
		})
	}
}

// testdata/built.txtar: "-- name --", the code, and as comments "//= text" the
// statements that builders render, in the order of the source; " | " parts those of
// different ways through the code, … is what is out of sight.
func TestBuilt(t *testing.T) {
	for _, c := range irtest.Cases(t, "testdata/built.txtar") {
		t.Run(c.Name, func(t *testing.T) {
			p := irtest.SSA(t, "package p\n"+c.Text)
			var want, got []string
			for line := range strings.Lines(c.Text) {
				if _, s, ok := strings.Cut(line, "//= "); ok {
					want = append(want, strings.TrimSpace(s))
				}
			}
			r := reader(p)
			r.Text.Built = r.BuiltText
			for _, fn := range p.Funcs {
				for _, b := range fn.Blocks {
					for _, in := range b.Instrs {
						call, ok := in.(ssa.CallInstruction)
						if !ok {
							continue
						}
						if s := r.Site(call); s != nil {
							line := strings.ReplaceAll(strings.Join(s.Texts, " | "), sqlstmt.Hole, "…")
							got = append(got, fmt.Sprintf("%s: %s", judgements[s.Judge], line))
						}
					}
				}
			}
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
			}
		})
	}
}

// What a builder renders is read whatever the dialect of the package.
func TestBuiltInEveryDialect(t *testing.T) {
	p := irtest.SSA(t, `package p
import (sq "github.com/Masterminds/squirrel"; "gorm.io/gorm"; "gorm.io/gorm/clause")
type Job struct{ ID int64; Epoch int64 }
func f(db *gorm.DB, j *Job) {
	sq.Replace("jobs").Columns("id").Values(1).Exec()
	db.Clauses(clause.OnConflict{DoNothing: true}).Create(j)
	db.Model(j).Where("epoch = ?", 1).Update("state", "x")
}
`)
	for _, d := range []sqlstmt.Dialect{sqlstmt.Unknown, sqlstmt.Postgres, sqlstmt.MySQL, sqlstmt.MariaDB, sqlstmt.SQLite} {
		r := reader(p)
		r.Dialect = d
		want := "SQL INSERT jobs: plain\nSQL INSERT jobs: compared\nSQL UPDATE jobs: compared"
		if got := strings.Join(sites(p, r), "\n"); got != want {
			t.Errorf("%v: got\n%s", d, got)
		}
	}
}

func TestDeclared(t *testing.T) {
	p := irtest.SSA(t, `package p
import "context"
type client struct{}
func (client) Send(ctx context.Context, key string, n int) {}
func (client) Read() {}
func f(ctx context.Context, c client) { c.Send(ctx, "orders/1", 2); c.Read() }
`)
	r := reader(p)
	r.Declared = func(f *types.Func, keys []string) (string, bool) {
		return "orders", f.Name() == "Send" && (keys == nil || slices.Equal(keys, []string{"orders/1"}))
	}
	if got, want := strings.Join(sites(p, r), "\n"), "declared Send orders: plain"; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	s := r.Site(irtest.Calls(p, "Send")[0])
	if len(s.Texts) != 1 || s.Texts[0] != "orders/1" {
		t.Errorf("keys %q", s.Texts)
	}
}

// A function of another package that passes its text on is known by its summary.
func TestWrapperOfAnotherPackage(t *testing.T) {
	p := irtest.SSA(t, `-- example.com/p/db/db.go --
package db
func Run(name, text string, args ...any) error { return nil }
-- example.com/p/p.go --
package p
import "example.com/p/db"
func f() { db.Run("x", "UPDATE t SET a = 1 WHERE id = $1", 5) }
`)
	r := reader(p)
	r.Wrapper = func(f *types.Func) (sink.Spec, bool) {
		return sink.Spec{Store: sink.SQL, Text: 1, Args: 2, Key: -1, Input: -1}, f.Name() == "Run"
	}
	if got, want := strings.Join(sites(p, r), "\n"), "SQL UPDATE t: plain"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestWrapperOf(t *testing.T) {
	p := irtest.SSA(t, `package p
import ("context"; "database/sql"; "fmt")
type store struct{ db *sql.DB }
func (s *store) exec(ctx context.Context, q string, args ...any) error { _, err := s.db.ExecContext(ctx, q, args...); return err }
func (s *store) outer(ctx context.Context, label, q string, args ...any) error { return s.exec(ctx, q, args...) }
func noArgs(db *sql.DB, q string) { db.Exec(q) }
func closed(db *sql.DB, q string) { func() { db.Exec(q) }() }
func changed(db *sql.DB, t string) { db.Exec(fmt.Sprintf("DELETE FROM %s", t)) }
func recursive(db *sql.DB, q string, n int) { if n > 0 { recursive(db, q, n-1); return }; db.Exec(q) }
func other(s string) {}
`)
	r := reader(p)
	for name, want := range map[string]string{
		"exec": "1 2", "outer": "2 3", "noArgs": "1 -1", "closed": "", "changed": "", "recursive": "1 -1", "other": "",
	} {
		s, ok := r.WrapperOf(irtest.Func(t, p, name))
		got := ""
		if ok {
			got = fmt.Sprint(s.Text, s.Args)
		}
		if got != want {
			t.Errorf("%s: text and arguments %q, want %q", name, got, want)
		}
	}
}

func TestStorePackage(t *testing.T) {
	for path, want := range map[string]bool{
		"database/sql": true, "github.com/redis/go-redis/v9": true, "k8s.io/client-go/kubernetes/typed/core/v1": true,
		"k8s.io/client-go/rest": false, "fmt": false, "": false, "example.com/database/sql": false,
	} {
		if sink.StorePackage(path) != want {
			t.Errorf("%s: want %t", path, want)
		}
	}
}

func TestEffect(t *testing.T) {
	p := irtest.SSA(t, `package p
import ("net/http"; "os"; "os/exec")
type mine struct{}
func (mine) Do() {}
func f(c *http.Client, e *exec.Cmd, m mine) {
	c.Do(nil); http.Post("", "", nil); e.Run(); os.WriteFile("", nil, 0); os.ReadFile(""); http.Get(""); m.Do()
	func() {}()
}
`)
	want := map[string]bool{"Post": true, "Run": true, "WriteFile": true, "ReadFile": false, "Get": false}
	for name, w := range want {
		if got := sink.Effect(ir.Object(irtest.Calls(p, name)[0].Common())); got != w {
			t.Errorf("%s: %t", name, got)
		}
	}
	do := irtest.Calls(p, "Do")
	if !sink.Effect(ir.Object(do[0].Common())) || sink.Effect(ir.Object(do[1].Common())) || sink.Effect(nil) {
		t.Error("a request is an effect, another Do is not")
	}
}

func TestArgAndReceiver(t *testing.T) {
	p := irtest.SSA(t, `package p
type i interface{ m(a, b int) }
type s struct{}
func (s) m(a, b int) {}
func fn(a, b int) {}
func f(x i, y s) { x.m(1, 2); y.m(1, 2); fn(1, 2) }
`)
	for _, c := range append(irtest.Calls(p, "m"), irtest.Calls(p, "fn")...) {
		cc := c.Common()
		if sink.Arg(cc, 0).String() != "1:int" || sink.Arg(cc, 1).String() != "2:int" || sink.Arg(cc, 2) != nil || sink.Arg(cc, -1) != nil {
			t.Errorf("the arguments of %v", c)
		}
		if got := sink.Receiver(cc) != nil; got != (cc.IsInvoke() || cc.Signature().Recv() != nil) {
			t.Errorf("the receiver of %v", c)
		}
	}
}

func TestReuse(t *testing.T) {
	p := irtest.SSA(t, "package p\n")
	a, b := reader(p), reader(p)
	a.Parse("SELECT 1", sqlstmt.Native)
	b.Reuse(a)
	b.Parse("SELECT 1", sqlstmt.Native)
	c := reader(p)
	c.Dialect = sqlstmt.SQLite
	c.Reuse(a)
	if s := c.Parse("SELECT 1", sqlstmt.Native); s.Dialect != sqlstmt.SQLite {
		t.Errorf("parsed as %s", s.Dialect)
	}
}
