package summary

import (
	"cmp"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/sqltext"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// statement tells whether a text may be SQL that matters.
var statement = regexp.MustCompile(`(?i)\b(UPDATE|INSERT|DELETE|REPLACE|MERGE|TRUNCATE|SELECT)\b`)

// returns finds functions that only render a statement, or name a table, from the
// syntax: each of their returns is made of constants, of parameters, and of what + and
// fmt.Sprintf make of them. Programs for several databases keep their statements so.
func returns(pass *analysis.Pass, r *Result) {
	for _, file := range pass.Files {
		for _, d := range file.Decls {
			fd, ok := d.(*ast.FuncDecl)
			if !ok || fd.Body == nil {
				continue
			}
			f, _ := pass.TypesInfo.Defs[fd.Name].(*types.Func)
			if f == nil || !rendersText(f) {
				continue
			}
			t := template{pass.TypesInfo, f.Type().(*types.Signature).Params()}
			var out []string
			worth := names(fd)
			for _, e := range results(pass.TypesInfo, fd) {
				text := t.of(e)
				if text == sqlstmt.Hole || len(text) > sqltext.MaxLen {
					continue
				}
				out = append(out, text)
				worth = worth || statement.MatchString(text) || len(fd.Body.List) > 1 && sqltext.IsMark(text)
			}
			if !worth || len(out) == 0 || len(out) > maxReturns {
				continue
			}
			if r.Funcs[f] == nil {
				r.Funcs[f] = &Func{}
			}
			slices.Sort(out)
			r.Funcs[f].Returns = slices.Compact(out)
		}
	}
}

// maxReturns bounds the texts kept of one function.
const maxReturns = 8

// rendersText tells whether a function returns one text.
func rendersText(f *types.Func) bool {
	res := f.Type().(*types.Signature).Results()
	if res.Len() != 1 {
		return false
	}
	b, ok := res.At(0).Type().Underlying().(*types.Basic)
	return ok && b.Kind() == types.String
}

// results returns what a function's body returns, if its parameters stay what they are.
func results(info *types.Info, fd *ast.FuncDecl) []ast.Expr {
	var out []ast.Expr
	kept := true
	ast.Inspect(fd.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ReturnStmt:
			out = append(out, n.Results...)
		case *ast.FuncLit:
			return false
		case *ast.AssignStmt:
			kept = kept && !slices.ContainsFunc(n.Lhs, func(e ast.Expr) bool { return isParam(info, fd, e) })
		case *ast.UnaryExpr:
			kept = kept && !(n.Op == token.AND && isParam(info, fd, n.X))
		}
		return kept
	})
	if !kept {
		return nil
	}
	return out
}

func isParam(info *types.Info, fd *ast.FuncDecl, e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return false
	}
	v, ok := info.Uses[id].(*types.Var)
	return ok && fd.Type.Params.Pos() <= v.Pos() && v.Pos() < fd.Type.Params.End()
}

// names tells whether a method names the table of a model, as gorm asks for.
func names(fd *ast.FuncDecl) bool { return fd.Recv != nil && fd.Name.Name == "TableName" }

// template renders the text of an expression, with a mark for each parameter.
type template struct {
	info   *types.Info
	params *types.Tuple
}

func (t template) of(e ast.Expr) string {
	e = ast.Unparen(e)
	if v := t.info.Types[e].Value; v != nil && v.Kind() == constant.String {
		return constant.StringVal(v)
	}
	switch e := e.(type) {
	case *ast.Ident:
		for i := range t.params.Len() {
			if t.info.Uses[e] == t.params.At(i) {
				return sqltext.Mark(i)
			}
		}
	case *ast.BinaryExpr:
		return t.of(e.X) + t.of(e.Y)
	case *ast.CallExpr:
		return t.sprintf(e)
	}
	return sqlstmt.Hole
}

// sprintf renders a call of fmt.Sprintf whose format is plain: %s, %v, %d and %q.
func (t template) sprintf(call *ast.CallExpr) string {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) == 0 {
		return sqlstmt.Hole
	}
	f, _ := t.info.Uses[sel.Sel].(*types.Func)
	format := t.info.Types[call.Args[0]].Value
	if f == nil || f.FullName() != "fmt.Sprintf" || format == nil || format.Kind() != constant.String {
		return sqlstmt.Hole
	}
	var out strings.Builder
	args := call.Args[1:]
	rest := constant.StringVal(format)
	for {
		before, after, found := strings.Cut(rest, "%")
		out.WriteString(before)
		if !found || after == "" {
			return out.String()
		}
		verb := after[0]
		rest = after[1:]
		switch {
		case verb == '%':
			out.WriteByte('%')
			continue
		case len(args) == 0 || !strings.ContainsRune("svdq", rune(verb)):
			return sqlstmt.Hole
		}
		text := t.of(args[0])
		args = args[1:]
		if verb == 'q' {
			text = `"` + text + `"`
		}
		out.WriteString(text)
	}
}

// members returns the texts that fn puts into the fields of a struct of its package that
// it returns: a statement that goes with a name for metrics, say.
func (c *Code) members(fn *ssa.Function) []Member {
	res := fn.Signature.Results()
	if obj := fn.Object(); obj == nil || !obj.Exported() || res.Len() == 0 {
		return nil
	}
	n := ir.NamedOf(res.At(0).Type())
	if n == nil || n.Obj().Pkg() != c.Pkg.Types {
		return nil
	}
	if _, ok := n.Underlying().(*types.Struct); !ok {
		return nil
	}
	var out []Member
	for _, b := range fn.Blocks {
		ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !ok {
			continue
		}
		root, ok := ret.Results[0].(*ssa.Alloc)
		if !ok {
			continue // nil beside an error, or one that was there before
		}
		for _, in := range *root.Referrers() {
			fa, ok := in.(*ssa.FieldAddr)
			if !ok {
				continue
			}
			f := ir.FieldOf(fa.X.Type(), fa.Field)
			if b, ok := f.Type().Underlying().(*types.Basic); !ok || b.Kind() != types.String {
				continue
			}
			for _, use := range *fa.Referrers() {
				if st, ok := use.(*ssa.Store); ok && st.Addr == fa {
					if ts := c.Text.Marked(st.Val, fn); len(ts) == 1 && sqltext.HasMark(ts[0]) {
						out = append(out, Member{f.Name(), ts[0]})
					}
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b Member) int { return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Text, b.Text)) })
	return slices.Compact(out)
}
