package main

import (
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fencelint/fence/analyzers"
)

var update = flag.Bool("update", false, "rewrite what the scripts compare with")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"fence": main})
}

// TestScripts runs the scripts in testdata/script. What they add to testscript:
//
//	exits STATUS fence ARGS   the command ends with that status
//	sqlite DATABASE FILE      the statements of FILE are executed in a SQLite database
//	[check:NAME]              fence has that check
//	$FENCE                    the command's path, for go vet -vettool
//	$FENCEDB                  the directory of fencedb, to replace it by
func TestScripts(t *testing.T) {
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("..", "..", "testdata", "script"),
		RequireExplicitExec: true,
		UpdateScripts:       *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("GOCACHE", strings.TrimSpace(string(cache)))
			env.Setenv("GOPROXY", "off") // nothing is fetched
			env.Setenv("GOTOOLCHAIN", "local")
			env.Setenv("GOFLAGS", "")
			env.Setenv("GOWORK", "")
			fence, err := exec.LookPath("fence")
			if err != nil {
				return err
			}
			env.Setenv("FENCE", fence)
			fencedb, err := filepath.Abs(filepath.Join("..", "..", "fencedb"))
			if err != nil {
				return err
			}
			env.Setenv("FENCEDB", fencedb)
			return nil
		},
		Cmds:      map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "sqlite": sqlite},
		Condition: condition,
	})
}

// exits runs a command and compares its exit status.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND [ARGS]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	switch err := ts.Exec(args[1], args[2:]...); {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("%s exits with %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}

// sqlite makes a database, or changes one.
func sqlite(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sqlite DATABASE FILE")
	}
	db, err := sql.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	defer db.Close()
	_, err = db.Exec(ts.ReadFile(args[1]))
	ts.Check(err)
}

func condition(cond string) (bool, error) {
	name, ok := strings.CutPrefix(cond, "check:")
	if !ok {
		return false, fmt.Errorf("unknown condition %s", cond)
	}
	_, found := analyzers.Lookup(name)
	return found, nil
}

// The terminal is the one thing scripts do not have.
func TestStatusLineIsForTerminals(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	status := newStatusLine(f)
	status.show("loading packages")
	status.clear()
	status.print("no findings")
	if info, err := f.Stat(); err != nil || info.Size() > 0 {
		t.Errorf("a file got %d bytes (%v)", info.Size(), err)
	}
}
