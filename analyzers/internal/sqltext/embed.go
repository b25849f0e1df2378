package sqltext

import (
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"

	"github.com/fencelint/fence/analyzers/internal/ir"
)

// Embeds returns what //go:embed puts into the string and []byte variables of a
// package. A file that cannot be read is not known.
func Embeds(p *ir.Package) func(*types.Var) (string, bool) {
	files := map[*types.Var]string{}
	for _, f := range p.Files {
		dir := filepath.Dir(p.Fset.Position(f.Package).Filename)
		for _, d := range f.Decls {
			gen, ok := d.(*ast.GenDecl)
			if !ok || gen.Tok != token.VAR {
				continue
			}
			for _, spec := range gen.Specs {
				vs, ok := spec.(*ast.ValueSpec)
				if !ok || len(vs.Names) != 1 {
					continue
				}
				name, ok := embedded(vs.Doc)
				if !ok && len(gen.Specs) == 1 {
					name, ok = embedded(gen.Doc)
				}
				if v, isVar := p.Info.Defs[vs.Names[0]].(*types.Var); ok && isVar && isText(v.Type()) {
					files[v] = filepath.Join(dir, filepath.FromSlash(name))
				}
			}
		}
	}
	return func(v *types.Var) (string, bool) {
		path, ok := files[v]
		if !ok {
			return "", false
		}
		info, err := os.Stat(path)
		if err != nil || info.Size() > MaxLen {
			return "", false
		}
		data, err := os.ReadFile(path)
		return string(data), err == nil
	}
}

func isText(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() == types.String
	case *types.Slice:
		b, ok := u.Elem().Underlying().(*types.Basic)
		return ok && b.Kind() == types.Uint8
	}
	return false
}

// embedded returns the one file that a //go:embed comment names.
func embedded(doc *ast.CommentGroup) (string, bool) {
	if doc == nil {
		return "", false
	}
	for _, c := range doc.List {
		if rest, ok := strings.CutPrefix(c.Text, "//go:embed "); ok {
			name := strings.Trim(strings.TrimSpace(rest), "\"`")
			return name, name != "" && !strings.ContainsAny(name, "*?[ ")
		}
	}
	return "", false
}
