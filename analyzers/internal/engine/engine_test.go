package engine_test

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/fencelint/fence/analyzers/checkthenwrite"
	"github.com/fencelint/fence/analyzers/internal/engine"
	"github.com/fencelint/fence/analyzers/internal/irtest"
	"github.com/fencelint/fence/analyzers/internal/summary"
	"github.com/fencelint/fence/analyzers/wallclockexpiry"
)

// module is a small program in five packages: a lock, a store, a clock, what
// binds a time, and a worker that uses them all.
const module = `-- example.com/p/lock/lock.go --
package lock

import ("context"; "github.com/go-redsync/redsync/v4")

type Lock struct{ m *redsync.Mutex }

func (l *Lock) Take(ctx context.Context) error { return l.m.LockContext(ctx) }

func (l *Lock) With(ctx context.Context, f func() error) error {
	if err := l.Take(ctx); err != nil {
		return err
	}
	return f()
}
-- example.com/p/store/store.go --
package store

import ("context"; "database/sql"; "time")

type Row struct {
	ID    string
	Until time.Time
}

type Store struct{ DB *sql.DB }

func (s *Store) Exec(ctx context.Context, q string, args ...any) error {
	_, err := s.DB.ExecContext(ctx, q, args...)
	return err
}

func (s *Store) Finish(ctx context.Context, id string) error {
	return s.Exec(ctx, "UPDATE jobs SET state = 'done' WHERE id = $1", id)
}

func (s *Store) Load(ctx context.Context) (*Row, error) {
	r := new(Row)
	err := s.DB.QueryRowContext(ctx, "SELECT id, locked_until FROM jobs").Scan(&r.ID, &r.Until)
	return r, err
}

func (s *Store) Steal(ctx context.Context, now time.Time) error {
	return s.Exec(ctx, "UPDATE leases SET owner = 'me' WHERE expires_at < $1", now)
}

func Generic[T any](ctx context.Context, s *Store, _ T) error { return s.Finish(ctx, "") }
-- example.com/p/clock/clock.go --
package clock

import "time"

func Now() time.Time { return time.Now() }
func UTC() time.Time { return time.Now().UTC() }
-- example.com/p/p.go --
package p

import (
	"context"

	"example.com/p/clock"
	"example.com/p/lock"
	"example.com/p/store"
)

func F(ctx context.Context, l *lock.Lock, s *store.Store) {
	if l.Take(ctx) != nil {
		return
	}
	s.Finish(ctx, "1")                   // want ` + "`UPDATE of jobs in Store.Finish \\(example.com/p/store/store.go:18\\) may land after`" + `
	s.Exec(ctx, "DELETE FROM a")         // want ` + "`DELETE of a may land after`" + `
	store.Generic(ctx, s, 5)
}

func G(ctx context.Context, l *lock.Lock, s *store.Store) {
	l.With(ctx, func() error {
		return s.Exec(ctx, "DELETE FROM b") // want ` + "`DELETE of b may land after`" + `
	})
}

func H(ctx context.Context, s *store.Store) bool {
	r, err := s.Load(ctx)
	return err == nil && clock.Now().After(r.Until) // want ` + "`jobs.locked_until was written by another process's clock`" + `
}

func I(ctx context.Context, s *store.Store) {
	s.Steal(ctx, clock.UTC()) // want ` + "`leases.expires_at was written by other processes and is compared in Store.Steal`" + `
}
`

func load(t *testing.T, dir, text string) []*packages.Package {
	t.Helper()
	return irtest.Load(t, dir, text)
}

// analyze runs both checks, and the summaries over everything before if phases is
// true, as fence check does.
func analyze(t *testing.T, env *engine.Env, pkgs []*packages.Package, phases bool) []string {
	t.Helper()
	for again := phases; again; again = env.Join() {
		irtest.Analyze(t, env.Summary, pkgs)
	}
	out := irtest.Findings(irtest.Analyze(t, checkthenwrite.New(env), pkgs))
	out = append(out, irtest.Findings(irtest.Analyze(t, wallclockexpiry.New(env), pkgs))...)
	slices.Sort(out)
	return out
}

// What is known of a package reaches the packages that import it, through facts
// alone and with everything in one process alike.
func TestAcrossPackages(t *testing.T) {
	both := func(env *engine.Env) *analysis.Analyzer {
		a, b := checkthenwrite.New(env), wallclockexpiry.New(env)
		return &analysis.Analyzer{Name: "both", Doc: "both checks", Requires: a.Requires, Run: func(pass *analysis.Pass) (any, error) {
			if _, err := a.Run(pass); err != nil {
				return nil, err
			}
			return b.Run(pass)
		}}
	}
	pkgs := load(t, t.TempDir(), module)
	env := engine.New(engine.Options{})
	for again := true; again; again = env.Join() {
		irtest.Analyze(t, env.Summary, pkgs)
	}
	whole := irtest.Analyze(t, both(env), pkgs)
	irtest.Check(t, whole, pkgs)
	for name, got := range map[string][]string{
		"one run without joining":    irtest.Findings(irtest.Analyze(t, both(engine.New(engine.Options{})), pkgs)),
		"a process for each package": irtest.Modular(t, func() *analysis.Analyzer { return both(engine.New(engine.Options{})) }, pkgs),
	} {
		if want := irtest.Findings(whole); !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\nwith joining:\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// encode returns all facts of a run, encoded, by object.
func encode(t *testing.T, g *checker.Graph) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for act := range g.All() {
		for _, f := range act.AllObjectFacts() {
			var b bytes.Buffer
			if err := gob.NewEncoder(&b).Encode(f.Fact); err != nil {
				t.Fatal(err)
			}
			out[fmt.Sprintf("%s %s %T", f.Object.Pkg().Path(), f.Object, f.Fact)] = b.Bytes()
		}
	}
	return out
}

func TestFactsAreIndependentOfConfiguration(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "fence.yaml")
	config := `version: 1
dialect: postgres
resources:
  - name: jobs
    writes: [example.com/p/store.Store.Load]
leases:
  checks: [example.com/p/store.Store.Exec]
  expiries: [jobs.id]
  clocks: [example.com/p/store.Generic]
strict: true
`
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	pkgs := load(t, dir, module)
	run := func(o engine.Options) map[string][]byte {
		return encode(t, irtest.Analyze(t, engine.New(o).Verdicts, pkgs)) // reads the configuration, too
	}
	plain, declared := run(engine.Options{ConfigFile: ""}), run(engine.Options{ConfigFile: file, Strict: true})
	if len(plain) < 6 {
		t.Errorf("only %d facts", len(plain))
	}
	if len(plain) != len(declared) {
		t.Errorf("%d facts, and %d with a configuration", len(plain), len(declared))
	}
	for name, data := range plain {
		if !bytes.Equal(data, declared[name]) {
			t.Errorf("the configuration changes %s", name)
		}
	}
}

// Two runs over texts read anew give the same bytes.
func TestFactsAreDeterministic(t *testing.T) {
	var first map[string][]byte
	for range 3 {
		pkgs := load(t, "dir", module)
		facts := encode(t, irtest.Analyze(t, engine.New(engine.Options{}).Summary, pkgs))
		if first == nil {
			first = facts
		}
		for name, data := range first {
			if !bytes.Equal(data, facts[name]) {
				t.Errorf("%s changes from run to run", name)
			}
		}
	}
}

// Facts do not name the machine.
func TestFactsNameNoDirectory(t *testing.T) {
	a := encode(t, irtest.Analyze(t, engine.New(engine.Options{}).Summary, load(t, "/one", module)))
	b := encode(t, irtest.Analyze(t, engine.New(engine.Options{}).Summary, load(t, "/two/three", module)))
	for name := range a {
		if !bytes.Equal(a[name], b[name]) {
			t.Errorf("%s depends on the directory", name)
		}
	}
}

func TestFactsSurviveEncoding(t *testing.T) {
	n := 0
	for _, act := range irtest.Analyze(t, engine.New(engine.Options{}).Summary, load(t, ".", module)).Roots {
		for _, f := range act.AllObjectFacts() {
			var b bytes.Buffer
			if err := gob.NewEncoder(&b).Encode(f.Fact); err != nil {
				t.Fatal(err)
			}
			switch fact := f.Fact.(type) {
			case *summary.Func:
				var got summary.Func
				if err := gob.NewDecoder(&b).Decode(&got); err != nil {
					t.Fatal(err)
				}
				if fmt.Sprintf("%+v", got.Writes) != fmt.Sprintf("%+v", fact.Writes) || got.Clock != fact.Clock || got.Reads != fact.Reads ||
					!slices.Equal(got.OwnerArgs, fact.OwnerArgs) || !slices.Equal(got.Proofs, fact.Proofs) || !slices.Equal(got.Binds, fact.Binds) ||
					(got.Text == nil) != (fact.Text == nil) || got.Text != nil && *got.Text != *fact.Text {
					t.Errorf("%s: %+v came back as %+v", f.Object, fact, got)
				}
				if got.Empty() {
					t.Errorf("%s has an empty fact", f.Object)
				}
			case *summary.Stored:
				var got summary.Stored
				if err := gob.NewDecoder(&b).Decode(&got); err != nil || got != *fact {
					t.Errorf("%s: %+v came back as %+v: %v", f.Object, fact, got, err)
				}
			default:
				t.Errorf("%s has a %T", f.Object, f.Fact)
			}
			n++
		}
	}
	if n == 0 {
		t.Error("no facts")
	}
}

// A package that has nothing to do with stores costs nothing and says nothing.
func TestPackageWithoutStore(t *testing.T) {
	pkgs := load(t, ".", `-- example.com/p/p.go --
package p

import "fmt"

type DB struct{}

func (DB) Exec(q string, args ...any) error { return nil }

func F(db DB, q string) error { return db.Exec(q) }

func G() { fmt.Println(F(DB{}, "DELETE FROM a")) }
`)
	env := engine.New(engine.Options{})
	g := irtest.Analyze(t, env.Summary, pkgs)
	if facts := encode(t, g); len(facts) > 0 {
		t.Errorf("facts: %v", facts)
	}
	if r := g.Roots[0].Result.(*summary.Result); r.Code != nil {
		t.Error("its code was read")
	}
}

// A package of another module is neither summed up nor judged.
func TestOtherModule(t *testing.T) {
	pkgs := load(t, ".", module)
	for _, p := range pkgs {
		p.Module = &packages.Module{Path: "example.com", Version: "v1.2.3"}
	}
	env := engine.New(engine.Options{})
	if facts := encode(t, irtest.Analyze(t, env.Summary, pkgs)); len(facts) > 0 {
		t.Errorf("%d facts", len(facts))
	}
	if found := analyze(t, engine.New(engine.Options{}), pkgs, false); len(found) > 0 {
		t.Errorf("found %q", found)
	}
}

// interfaces is a program that knows its store through an interface alone; %s
// stands for the implementations.
const interfaces = `-- example.com/p/port/port.go --
package port

import "context"

type Store interface{ Finish(ctx context.Context, id string) error }
%s-- example.com/p/p.go --
package p

import ("context"; "example.com/p/port"; "github.com/go-redsync/redsync/v4")

func F(ctx context.Context, m *redsync.Mutex, s port.Store) {
	if m.Lock() == nil {
		s.Finish(ctx, "1")
	}
}
`

const (
	plain = `-- example.com/p/pg/pg.go --
package pg

import ("context"; "database/sql")

type Store struct{ DB *sql.DB }

func (s *Store) Finish(ctx context.Context, id string) error {
	_, err := s.DB.ExecContext(ctx, "UPDATE jobs SET state = 'done' WHERE id = $1", id)
	return err
}
`
	other = `-- example.com/p/kv/kv.go --
package kv

import ("context"; "github.com/redis/go-redis/v9")

type Store struct{ C *redis.Client }

func (s Store) Finish(ctx context.Context, id string) error { return s.C.Set(ctx, "job", id, 0).Err() }
`
	fenced = `-- example.com/p/safe/safe.go --
package safe

import ("context"; "database/sql")

type Store struct{ DB *sql.DB; Epoch int64 }

func (s *Store) Finish(ctx context.Context, id string) error {
	_, err := s.DB.ExecContext(ctx, "UPDATE jobs SET state = 'done' WHERE id = $1 AND epoch = $2", id, s.Epoch)
	return err
}
`
	fake = `-- example.com/p/fake/fake.go --
package fake

import "context"

type Store struct{ Done []string }

func (s *Store) Finish(ctx context.Context, id string) error { s.Done = append(s.Done, id); return nil }
`
	decorator = `-- example.com/p/trace/trace.go --
package trace

import ("context"; "example.com/p/port")

type Store struct{ Inner port.Store }

func (s Store) Finish(ctx context.Context, id string) error { println(id); return s.Inner.Finish(ctx, id) }
`
	signature = `-- example.com/p/odd/odd.go --
package odd

import "database/sql"

type Store struct{ DB *sql.DB }

func (s *Store) Finish(id string) error { _, err := s.DB.Exec("UPDATE jobs SET a = 1 WHERE epoch = 1"); return err }
`
)

func TestInterfaces(t *testing.T) {
	for _, c := range []struct {
		name, impls string
		want        bool
	}{
		{"one implementation", plain, true},
		{"a fake does not count", plain + fake, true},
		{"two that agree", plain + other, true},
		{"none", "", false},
		{"a fake alone", fake, false},
		{"one that compares", fenced, false},
		{"one plain and one that compares", plain + fenced, false},
		{"a decorator", plain + decorator, true},
		{"a decorator of one that compares", fenced + decorator, false},
		{"a method of that name with another signature", plain + signature, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			pkgs := load(t, ".", fmt.Sprintf(interfaces, c.impls))
			found := analyze(t, engine.New(engine.Options{}), pkgs, true)
			if (len(found) == 1) != c.want || len(found) > 1 {
				t.Errorf("found %q", found)
			}
			if c.want && !strings.Contains(strings.Join(found, ""), "via interface") {
				t.Errorf("not marked: %q", found)
			}
			modular := irtest.Modular(t, func() *analysis.Analyzer { return checkthenwrite.New(engine.New(engine.Options{})) }, pkgs)
			if len(modular) > 0 {
				t.Errorf("a modular driver cannot know: %q", modular)
			}
		})
	}
}

// proving is a program that takes its lock through an interface.
const proving = `-- example.com/p/p.go --
package p

import ("context"; "database/sql"; "github.com/go-redsync/redsync/v4")

type Locker interface{ Take(ctx context.Context) bool }

type red struct{ m *redsync.Mutex }

func (r red) Take(ctx context.Context) bool { return r.m.LockContext(ctx) == nil }

func F(ctx context.Context, l Locker, db *sql.DB) {
	if l.Take(ctx) {
		db.Exec("UPDATE a SET x = 1")
	}
}

func G(ctx context.Context, r red, db *sql.DB) {
	if r.Take(ctx) {
		db.Exec("UPDATE b SET x = 1")
	}
}
`

// A finding that rests on an interface in any way says so, and the others are
// those of a modular driver, word for word.
func TestMarks(t *testing.T) {
	pkgs := load(t, ".", proving)
	whole := analyze(t, engine.New(engine.Options{}), pkgs, true)
	modular := irtest.Modular(t, func() *analysis.Analyzer { return checkthenwrite.New(engine.New(engine.Options{})) }, pkgs)
	marked := slices.DeleteFunc(slices.Clone(whole), func(f string) bool { return !strings.Contains(f, "via interface") })
	plain := slices.DeleteFunc(slices.Clone(whole), func(f string) bool { return strings.Contains(f, "via interface") })
	if len(marked) != 1 || !strings.Contains(marked[0], "UPDATE of a") {
		t.Errorf("marked: %q", marked)
	}
	if len(plain) != 1 || !slices.Equal(plain, modular) {
		t.Errorf("%q, and package by package %q", plain, modular)
	}
}

// Two checks of one run, and the same check twice, say the same.
func TestRunsAgree(t *testing.T) {
	pkgs := load(t, ".", module)
	env := engine.New(engine.Options{})
	first, second := analyze(t, env, pkgs, false), analyze(t, env, pkgs, false)
	if len(first) == 0 || !slices.Equal(first, second) {
		t.Errorf("%q, then %q", first, second)
	}
}

func TestConfiguration(t *testing.T) {
	const text = `-- example.com/p/ha/ha.go --
package ha

type Elector struct{}

func (Elector) Active() bool { return false }
-- example.com/p/p.go --
package p

import ("database/sql"; "example.com/p/ha")

func F(e ha.Elector, db *sql.DB) {
	if e.Active() {
		db.Exec("UPDATE a SET x = 1")
	}
}
`
	const config = "version: 1\nleases:\n  checks: [example.com/p/ha.Elector.Active]\n"
	write := func(t *testing.T, name, text string) {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("none", func(t *testing.T) {
		if found := analyze(t, engine.New(engine.Options{}), load(t, t.TempDir(), text), false); len(found) > 0 {
			t.Errorf("found %q", found)
		}
	})
	t.Run("nearest", func(t *testing.T) {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "example.com", "p", "fence.yaml"), config)
		write(t, filepath.Join(dir, "fence.yaml"), "version: 1\n")
		if found := analyze(t, engine.New(engine.Options{}), load(t, dir, text), false); len(found) != 1 {
			t.Errorf("found %q", found)
		}
	})
	t.Run("above the module", func(t *testing.T) {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "fence.yaml"), config)
		write(t, filepath.Join(dir, "example.com", "p", "go.mod"), "module example.com/p\n")
		if found := analyze(t, engine.New(engine.Options{}), load(t, dir, text), false); len(found) > 0 {
			t.Errorf("found %q", found)
		}
	})
	t.Run("named", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "other.yaml")
		write(t, file, config)
		if found := analyze(t, engine.New(engine.Options{ConfigFile: file}), load(t, t.TempDir(), text), false); len(found) != 1 {
			t.Errorf("found %q", found)
		}
	})
	t.Run("broken", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "other.yaml")
		write(t, file, "version: 1\nnonsense: true\n")
		env := engine.New(engine.Options{ConfigFile: file})
		g, err := checker.Analyze([]*analysis.Analyzer{checkthenwrite.New(env)}, load(t, t.TempDir(), text), nil)
		if err != nil {
			t.Fatal(err)
		}
		said := false
		for act := range g.All() {
			said = said || act.Err != nil && strings.Contains(act.Err.Error(), "nonsense")
			if act.IsRoot && act.Err == nil {
				t.Errorf("%v did not fail", act)
			}
		}
		if !said {
			t.Error("no error names the key")
		}
	})
}

func TestPage(t *testing.T) {
	if got := engine.Page("checkthenwrite"); !strings.HasSuffix(got, "/docs/checks/checkthenwrite.md") {
		t.Error(got)
	}
}
