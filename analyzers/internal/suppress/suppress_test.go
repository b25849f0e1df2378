package suppress_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/fencelint/fence/analyzers/internal/suppress"
)

// extents is a file in which every call says whether it is silenced.
const extents = `package p

func reported(...any)
func silenced(...any)

func beside() {
	//lint:ignore acheck the line before
	silenced(1)
	reported(1)

	silenced(2) //lint:ignore acheck the end of the line
	reported(2)

	//lint:ignore acheck a blank line between

	reported(3)

	// Words, and a directive for each tool.
	//lint:ignore SA1000 for staticcheck
	//lint:ignore acheck for us
	silenced(4)

	//lint:ignore acheck for us first
	//lint:ignore SA1000 for staticcheck
	silenced(5)

	// lint:ignore acheck a blank makes it prose
	reported(6)

	//lint:ignore other,ACheck among others, in any case
	silenced(7)

	//lint:ignore acheck
	reported(8)

	//lint:ignore acheck // want "a reason"
	reported(9)

	//lint:ignore achecks another name
	reported(10)
}

func whole() {
	//lint:ignore acheck all of a statement
	silenced(
		1,
		func() {
			silenced(2)
		},
	)

	silenced( //lint:ignore acheck the end of the first line
		3,
		func() { silenced(4) },
	)

	silenced(
		5,
		func() { silenced(6) },
	) //lint:ignore acheck the end of the last line

	silenced(
		//lint:ignore acheck between the lines
		7,
	)

	//lint:ignore acheck also a statement with a block
	if ok := true; ok {
		silenced(8)
	} else {
		silenced(9)
	}

	if ok := true; ok { //lint:ignore acheck the end of its first line
		silenced(10)
	}

	if true {
		reported(11)
	} else if false { //lint:ignore acheck this arm
		silenced(12)
	}

	for {
		reported(13)
	} //lint:ignore acheck a brace is no statement

	for {
		//lint:ignore acheck beside nothing
	}
	reported(14)

	switch {
	//lint:ignore acheck one case
	case true:
		silenced(15)
	case false:
		reported(16)
	}
	go func() {
		reported(17)
		//lint:ignore acheck only this one
		silenced(18)
	}()
}

//lint:ignore acheck all of a declaration
func declared() {
	silenced(1)
}

// Documented has a directive below its comment.
//
//lint:ignore acheck all of it
func Documented() {
	silenced(1)
}

//lint:ignore acheck all of a group
var (
	a = f(silenced)
	b = f(silenced)
)

var (
	//lint:ignore acheck one of a group
	c = f(silenced)
	d = f(reported)
	e = f(silenced) //lint:ignore acheck one of a group
)

var g = func() { reported(1) }
`

func TestExtent(t *testing.T) {
	fset, file := parse(t, extents)
	index := suppress.New(fset, []*ast.File{file})
	seen := 0
	ast.Inspect(file, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || id.Name != "silenced" && id.Name != "reported" || isDeclaration(file, id) {
			return true
		}
		seen++
		if got, want := index.Silenced("acheck", id.Pos()), id.Name == "silenced"; got != want {
			t.Errorf("%s: Silenced = %v, want %v", fset.Position(id.Pos()), got, want)
		}
		return true
	})
	if seen == 0 {
		t.Error("no places seen")
	}
	if index.Silenced("acheck", file.Package) {
		t.Error("a place beside no directive is silenced")
	}
}

func isDeclaration(file *ast.File, id *ast.Ident) bool {
	return slices.ContainsFunc(file.Decls, func(d ast.Decl) bool {
		fn, ok := d.(*ast.FuncDecl)
		return ok && fn.Name == id
	})
}

func TestProblems(t *testing.T) {
	const noReason = "gives no reason"
	known := func(check string) bool { return check == "acheck" || check == "bcheck" }
	for _, test := range []struct{ directive, want string }{
		{"//lint:ignore acheck the reason", ""},
		{"//lint:ignore\tacheck\tthe reason", ""},
		{"//lint:ignore acheck", noReason},
		{"//lint:ignore acheck   ", noReason},
		{"//lint:ignore acheck,SA1000", noReason},
		{"//lint:ignore SA1000,bcheck", noReason},
		{"//lint:ignore SA1000", ""},
		{"//lint:ignore", "names no check"},
		{"//lint:ignore , why", "names no check"},
		{"//lint:file-ignore acheck why", "does not silence acheck"},
		{"//lint:file-ignore SA1000 why", ""},
		{"//lint:deprecated acheck", ""},
		{"//lint:ignoreacheck", ""},
		{"// lint:ignore acheck", ""},
	} {
		fset, file := parse(t, "package p\n\n"+test.directive+"\nvar x int\n")
		problems := suppress.New(fset, []*ast.File{file}).Problems(known)
		var got string
		for _, p := range problems {
			got += p.Message
			if line := fset.Position(p.Pos).Line; line != 3 {
				t.Errorf("%q: reported on line %d, want 3", test.directive, line)
			}
		}
		if test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%q: problem %q, want %q", test.directive, got, test.want)
		}
	}
}

func TestUses(t *testing.T) {
	fset, file := parse(t, `package p

//lint:ignore acheck,bcheck both
var x = 1

//lint:ignore acheck the outer one
func f() {
	//lint:ignore acheck the inner one
	g()
}

//lint:ignore acheck
var y = 1
`)
	index := suppress.New(fset, []*ast.File{file})
	index.Silenced("bcheck", file.Decls[0].Pos())
	index.Silenced("acheck", file.Decls[1].(*ast.FuncDecl).Body.List[0].Pos())
	var got []string
	for _, u := range index.Uses() {
		used := "stale"
		if u.Silenced {
			used = "used"
		}
		got = append(got, u.Check+" "+used)
	}
	want := []string{"acheck stale", "bcheck used", "acheck used", "acheck used"}
	if !slices.Equal(got, want) {
		t.Errorf("uses:\n got %q\nwant %q", got, want)
	}
}

func parse(t *testing.T, src string) (*token.FileSet, *ast.File) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return fset, file
}
