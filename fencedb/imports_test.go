package fencedb_test

import (
	"os/exec"
	"strings"
	"testing"
)

// The module links nothing but the standard library and itself into a program.
func TestImportsTheStandardLibraryOnly(t *testing.T) {
	const module = "github.com/fencelint/fence/fencedb"
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	for _, p := range packages {
		if p != module && !strings.HasPrefix(p, module+"/") {
			t.Errorf("a package of fencedb imports %s", p)
		}
	}
	if len(packages) < 3 {
		t.Errorf("go list names %d packages of the module", len(packages))
	}
}
