package driver_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fencelint/fence/analyzers/driver"
)

// configured is a module of two packages, whose fence.yaml a test adds, and one
// that it depends on.
const configured = `
-- app/go.mod --
module example.com/app

go 1.26

require (
	example.com/dep v0.0.0
	example.com/dep.v2 v0.0.0
)

replace (
	example.com/dep => ../dep
	example.com/dep.v2 => ../dep.v2
)
-- dep/go.mod --
module example.com/dep

go 1.26
-- dep/dep.go --
package dep

type Client struct{ hidden }

type hidden struct{ Field int }

func (hidden) Promoted() {}

func (*Client) send() {}

type Store interface{ Put() }

func unseen() {}
-- dep.v2/go.mod --
module example.com/dep.v2

go 1.26
-- dep.v2/dep.go --
package dep

type Node struct{ Kind int }
-- app/app.go --
package app

import (
	"database/sql"

	_ "example.com/app/ha"
	_ "example.com/dep"
	_ "example.com/dep.v2"
)

var _ *sql.DB

func Top() {}
-- app/ha/ha.go --
package ha

type Elector struct {
	base
	Check func() bool
	inner struct{ deep int }
}

type base struct{ Until int }

func (*base) Resign() {}

type Port[T any] interface{ Renew(T) error }

var script func() bool

func (e *Elector) active() bool { return e.inner.deep > 0 && script() }
-- app/ha/ha_plan9.go --
package ha

func OnPlan9() {}
-- app/tagged/tagged.go --
//go:build special

package tagged

import _ "example.com/special"
-- app/ha/ha_special.go --
//go:build special

package ha

import _ "example.com/special"
-- app/schema.sql --
CREATE TABLE jobs (id bigint PRIMARY KEY, leased_until timestamptz, fence bigint);
CREATE TABLE sys.leases (name text PRIMARY KEY, epoch bigint);
`

// unresolved returns the warnings about a fence.yaml that a run over some
// packages of the module gives.
func unresolved(t *testing.T, yaml string, patterns ...string) []string {
	t.Helper()
	dir := tree(t, configured+"-- app/fence.yaml --\n"+yaml)
	var got []string
	for _, f := range run(t, driver.Options{Dir: filepath.Join(dir, "app"), Patterns: patterns}).Findings {
		if f.Code != "config" || f.Severity != "warning" || f.Location.File != "fence.yaml" {
			t.Errorf("finding %+v", f)
		}
		got = append(got, fmt.Sprintf("%d:%d: %s", f.Location.Line, f.Location.Column, f.Message))
	}
	return got
}

func TestEntriesThatResolve(t *testing.T) {
	expect(t, unresolved(t, `version: 1
schema: [schema.sql]
fence_columns: [epoch]
tables:
  jobs: {fence: fence, open: [leased_until]}
  main.jobs: {protect: true}
  leases: {protect: true}
guards:
  sys.leases: {resource: name, token: epoch}
writers: [example.com/app/ha, example.com/app/...]
resources:
  - name: kv
    writes: [database/sql.DB.ExecContext, database/sql.Tx.Exec, example.com/dep.Store.Put]
    fenced: [example.com/dep.Client.Promoted, example.com/dep.Client.Field]
tokens: [example.com/dep.v2.Node.Kind, jobs.fence, JOBS.Fence, sys.leases.epoch, example.com/app/ha.Elector]
leases:
  checks: [example.com/app/ha.Elector.active, example.com/app/ha.Elector.Check, example.com/app/ha.script]
  renew: [example.com/app/ha.Port.Renew]
  release: [example.com/app/ha.Elector.Resign, example.com/app/ha.base.Resign]
  expiries: [example.com/app/ha.Elector.Until, jobs.leased_until, example.com/app/ha.Elector.inner.deep]
  clocks: [example.com/app.Top]
  # What export data leaves out, and files of other systems and build tags.
  acquire: [example.com/dep.unseen, example.com/dep.Client.send, example.com/app/ha.OnPlan9]
  callbacks: [example.com/app/tagged.F, example.com/special.F]
analyze: [example.com/dep/...]
`), nil)
}

func TestEntriesThatDoNot(t *testing.T) {
	expect(t, unresolved(t, `version: 1
schema: [schema.sql]
fence_columns: [attempt]
tables:
  job: {protect: true}
  jobs: {fence: fense, open: [leased]}
guards:
  leases: {resource: nam, token: epoch}
writers: [example.com/app/hb]
resources:
  - name: kv
    writes: [database/sql.DB.ExceContext, example.com/dep.Store.Putt]
tokens: [example.com/dep.v2.Node.Kin, jobs.fences, job.fence]
leases:
  checks: [example.com/app/ha.Elector.actve, example.com/app/ha.active, example.com/app/ha.Elector.inner.depp]
  release: [example.com/app/ha.Elector.Resign.Now]
  clocks: [example.com/app/haa.Now, gopkg.in/yaml.v3.Node]
analyze: [example.com/dap/...]
`), strings.Split(strings.TrimSpace(`
3:17: fence_columns: no table of the schema has a column attempt, so this entry is unused
5:3: tables: the schema has no table job: did you mean "jobs"?
6:3: tables: fence: table jobs has no column fense: did you mean "fence"?
6:31: tables: open: table jobs has no column leased
8:3: guards: resource: table leases has no column nam: did you mean "name"?
9:11: writers: example.com/app/hb matches no package of the module, so this entry is unused
12:14: resources: writes: database/sql has no DB.ExceContext: did you mean "database/sql.DB.ExecContext"?
12:43: resources: writes: example.com/dep has no Store.Putt: did you mean "example.com/dep.Store.Put"?
13:10: tokens: example.com/dep.v2 has no Node.Kin: did you mean "example.com/dep.v2.Node.Kind"?
13:39: tokens: table jobs has no column fences: did you mean "fence"?
13:52: tokens: the schema has no table job: did you mean "jobs"?
15:12: leases: checks: example.com/app/ha has no Elector.actve: did you mean "example.com/app/ha.Elector.active"?
15:46: leases: checks: example.com/app/ha has no active: did you mean "example.com/app/ha.Elector.active"?
15:73: leases: checks: example.com/app/ha has no Elector.inner.depp: did you mean "example.com/app/ha.Elector.inner.deep"?
16:13: leases: release: example.com/app/ha has no Elector.Resign.Now
17:12: leases: clocks: no package that was loaded imports example.com/app/haa, so this entry is unused: did you mean "example.com/app/ha"?
17:37: leases: clocks: no package that was loaded imports gopkg.in/yaml.v3, so this entry is unused
18:11: analyze: no package that was loaded imports one of example.com/dap/..., so this entry is unused
`), "\n"))
}

// What is not there may be in a package that was not named.
func TestEntriesOfPackagesNotNamed(t *testing.T) {
	const yaml = `leases: {checks: [example.com/dep.Nothing, example.com/app/ha.Nothing, example.com/gone.Nothing]}
analyze: [example.com/gone]
writers: [example.com/app/gone]
`
	ha := "1:44: leases: checks: example.com/app/ha has no Nothing"
	dep := "1:19: leases: checks: example.com/dep has no Nothing"
	expect(t, unresolved(t, yaml, "./ha/..."), []string{ha})
	expect(t, unresolved(t, yaml, "."), []string{dep, ha})
	for _, pattern := range []string{"./...", "example.com/app/...", "all", "../app/..."} {
		if got := unresolved(t, yaml, pattern); len(got) != 5 {
			t.Errorf("%s: %q", pattern, got)
		}
	}
}

// Where a statement of the schema was not understood, a table may be in it.
func TestEntriesOfHalfASchema(t *testing.T) {
	dir := tree(t, configured+"-- app/fence.yaml --\nschema: [schema.sql, more.sql]\ntables: {job: {protect: true}}\n"+
		"-- app/more.sql --\nCREATE TABLE job AS SELECT * FROM jobs;\n")
	expect(t, lines(run(t, driver.Options{Dir: filepath.Join(dir, "app")}).Findings), nil)
}

// A package that does not compile hides others.
func TestEntriesOfABrokenModule(t *testing.T) {
	dir := tree(t, configured+"-- app/fence.yaml --\nwriters: [example.com/app/gone]\n-- app/bad/bad.go --\npackage bad\n\nvar x int = ``\n")
	expect(t, lines(run(t, driver.Options{Dir: filepath.Join(dir, "app")}).Findings), nil)
}

// Of a schema in a migration tool's layout, too, the tables are known.
func TestEntriesOfMigrations(t *testing.T) {
	dir := tree(t, configured+"-- app/fence.yaml --\ntables: {job: {protect: true}}\n"+
		"-- app/db/1_init.up.sql --\nCREATE TABLE jobs (id bigint);\n-- app/db/1_init.down.sql --\nDROP TABLE jobs;\n")
	expect(t, lines(run(t, driver.Options{Dir: filepath.Join(dir, "app")}).Findings),
		[]string{`fence.yaml:1 config warning tables: the schema has no table job: did you mean "jobs"?`})
}
