package plugin

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs golangci-lint with this plugin in it: $GCL in the scripts.
func TestScripts(t *testing.T) {
	gcl := os.Getenv("FENCE_TEST_GCL")
	if gcl == "" {
		t.Skip("FENCE_TEST_GCL does not name a golangci-lint with fence in it: build one with (cd analyzers/plugin/gcl && GOWORK=off go build -o ../../../bin/gcl) and set it to the absolute path of bin/gcl")
	}
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("GCL", gcl)
			env.Setenv("GOCACHE", strings.TrimSpace(string(cache)))
			env.Setenv("GOLANGCI_LINT_CACHE", filepath.Join(env.WorkDir, ".cache"))
			env.Setenv("GOPROXY", "off") // nothing is fetched
			env.Setenv("GOTOOLCHAIN", "local")
			env.Setenv("GOFLAGS", "")
			env.Setenv("GOWORK", "off")
			return nil
		},
	})
}
