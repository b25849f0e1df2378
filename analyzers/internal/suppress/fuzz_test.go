package suppress_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"

	"github.com/fencelint/fence/analyzers/internal/suppress"
)

// Whatever the parser makes of a file, directives in it are read.
func FuzzIndex(f *testing.F) {
	f.Add(extents)
	f.Add("package p\n//lint:ignore acheck why\n")
	f.Add("//lint:ignore acheck why\npackage p\nfunc f(")
	f.Add("package p\nfunc f() { //lint:ignore acheck why\n switch { case x: //lint:ignore acheck why")
	f.Fuzz(func(t *testing.T, src string) {
		fset := token.NewFileSet()
		file, _ := parser.ParseFile(fset, "p.go", src, parser.ParseComments)
		if file == nil {
			return
		}
		index := suppress.New(fset, []*ast.File{file})
		for pos := file.FileStart; pos <= file.FileEnd; pos++ {
			index.Silenced("acheck", pos)
		}
		index.Problems(func(string) bool { return true })
		for _, u := range index.Uses() {
			if u.Pos < file.FileStart || u.End > file.FileEnd+1 {
				t.Errorf("a directive outside the file: %v", u)
			}
		}
	})
}
