package driver_test

import (
	"strings"
	"testing"

	"github.com/fencelint/fence/analyzers/driver"
)

func TestIsVet(t *testing.T) {
	for args, want := range map[string]bool{
		"":                                   false,
		"check ./...":                        false,
		"-V=full":                            true,
		"-flags":                             true,
		"$WORK/b001/vet.cfg":                 true,
		"-json -checkthenwrite b001/vet.cfg": true,
		"check --config x.cfg ./...":         false,
		"check --config x.cfg":               false,
		"version":                            false,
	} {
		if got := driver.IsVet(strings.Fields(args)); got != want {
			t.Errorf("%q: %t", args, got)
		}
	}
}

// sandbox is a program of three packages and one of a library, as Bazel shows it:
// without a go.mod that a tool could look at. What the worker does wrong takes a
// fact of the store, which takes one of the wrapper that the store executes by.
const sandbox = `-- go.mod --
module example.com/app

go 1.26

require example.com/lib v1.0.0

replace example.com/lib => ./lib
-- fence.yaml --
tabels: {} # nogo shows a tool nothing that is not declared, so nobody reads this
-- lib/go.mod --
module example.com/lib

go 1.26
-- lib/lib.go --
package lib

import (
	"context"
	"database/sql"
)

func Exec(ctx context.Context, db *sql.DB, q string, args ...any) error {
	_, err := db.ExecContext(ctx, q, args...)
	return err
}
-- exec/exec.go --
package exec

import (
	"context"
	"database/sql"
)

type DB struct{ SQL *sql.DB }

func (d DB) Exec(ctx context.Context, q string, args ...any) error {
	_, err := d.SQL.ExecContext(ctx, q, args...)
	return err
}
-- store/store.go --
package store

import (
	"context"

	"example.com/app/exec"
)

type Store struct{ DB exec.DB }

func (s *Store) Finish(ctx context.Context, id string) error {
	return s.DB.Exec(ctx, "UPDATE jobs SET state = 'done' WHERE id = $1", id)
}
-- worker/worker.go --
package worker

import (
	"context"

	"example.com/app/store"
	"example.com/lib"
)

type Elector struct{}

func (Elector) Active() bool { return false }

func Work(ctx context.Context, e Elector, s *store.Store) error {
	if e.Active() {
		return s.Finish(ctx, "1")
	}
	return nil
}

func Other(ctx context.Context, e Elector, s *store.Store) error {
	if e.Active() {
		return lib.Exec(ctx, s.DB.SQL, "UPDATE jobs SET state = 'done'")
	}
	return nil
}
`

const (
	policyFlag  = `-fenceconfig.policy={"leases": {"checks": ["example.com/app/worker.Elector.Active"]}}`
	modulesFlag = "-fenceconfig.modules=example.com/app"
)

// A build system such as Bazel runs the checks in one process for each package,
// in a sandbox, and tells none of them about modules. Facts pass from process to
// process, and the configuration is in a flag.
func TestUnits(t *testing.T) {
	dir := tree(t, sandbox)
	us := runUnits(t, dir, true, policyFlag, modulesFlag)
	if len(us) != 3 {
		t.Fatalf("%d packages", len(us))
	}
	for path, u := range us {
		want := path == "example.com/app/worker"
		if (u.exit != 0) != want || (u.stderr != "") != want {
			t.Errorf("%s exits %d: %s", path, u.exit, u.stderr)
		}
	}
	found := us["example.com/app/worker"].stderr
	if !strings.HasPrefix(found, "worker/worker.go:16:18: UPDATE of jobs in Store.Finish (example.com/app/store/store.go:12) may land") {
		t.Errorf("found %s", found)
	}
	if strings.Contains(found, "worker.go:23") {
		t.Errorf("what a library does counts: %s", found)
	}
}

// Without the flag every package with a domain in its path counts, since nobody
// says which are the user's own.
func TestUnitsWithoutModules(t *testing.T) {
	us := runUnits(t, tree(t, sandbox), true, policyFlag)
	if found := us["example.com/app/worker"].stderr; !strings.Contains(found, "worker.go:16") || !strings.Contains(found, "worker.go:23") {
		t.Errorf("found %s", found)
	}
}

func TestUnitsBadFlags(t *testing.T) {
	for name, c := range map[string]struct {
		flags []string
		want  string
	}{
		"unknown key":  {[]string{`-fenceconfig.policy={"leasse": {}}`}, `fenceconfig: flag policy: policy:1:2: unknown key "leasse": did you mean "leases"?`},
		"two policies": {[]string{policyFlag, `-fenceconfig.policy={}`}, "fenceconfig: flag policy: given twice, and the values differ"},
		"empty path":   {[]string{"-fenceconfig.modules=example.com/app,,"}, "fenceconfig: flag modules: \"example.com/app,,\" has an empty import path: write"},
		"the same":     {[]string{policyFlag, policyFlag, modulesFlag, modulesFlag}, "UPDATE of jobs in Store.Finish"},
	} {
		t.Run(name, func(t *testing.T) {
			us := runUnits(t, tree(t, sandbox), true, c.flags...)
			if u := us["example.com/app/worker"]; u.exit != 1 || strings.Count(u.stderr, c.want) != 1 {
				t.Errorf("exits %d: %s", u.exit, u.stderr)
			}
		})
	}
}
