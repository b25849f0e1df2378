package irtest_test

import (
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/fencelint/fence/analyzers/internal/irtest"
)

// Every stub compiles.
func TestStubs(t *testing.T) {
	files, err := fs.Glob(os.DirFS("stubs"), "*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var b strings.Builder
	b.WriteString("package p\n")
	for _, f := range files {
		a, err := txtar.ParseFile("stubs/" + f)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Files {
			b.WriteString("import _ \"" + path.Dir(f.Name) + "\"\n")
		}
	}
	irtest.Load(t, ".", b.String())
}

func TestMarks(t *testing.T) {
	p := irtest.SSA(t, "package p\nfunc f() { probe(1); yes(); g() }\nfunc g() { probe(\"two\"); no() }\n")
	vs := irtest.Probes(p)
	if len(vs) != 2 || vs[0].String() != "1:int" || vs[1].String() != `"two":string` {
		t.Errorf("%v", vs)
	}
	if len(irtest.Calls(p, "yes")) != 1 || irtest.Calls(p, "no")[0].Parent() != irtest.Func(t, p, "g") {
		t.Error("yes or no is in the wrong place")
	}
}
