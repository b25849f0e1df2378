package driver

import (
	"cmp"
	"go/ast"
	"go/token"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/inspector"
)

// sources reads what stands around findings.
type sources struct {
	fset  *token.FileSet
	texts map[string][]byte // by file name
	trees map[*ast.File]*inspector.Inspector
}

func newSources(fset *token.FileSet) *sources {
	return &sources{fset, make(map[string][]byte), make(map[*ast.File]*inspector.Inspector)}
}

// around returns the declaration and the statement that pos lies in, as they
// count for a finding's identity.
func (s *sources) around(file *ast.File, pos token.Pos) (function, statement string) {
	tree := s.trees[file]
	if tree == nil {
		tree = inspector.New([]*ast.File{file})
		s.trees[file] = tree
	}
	innermost, ok := tree.Root().FindByPos(pos, pos)
	if !ok {
		return "", ""
	}
	for c := range innermost.Enclosing() {
		if statement == "" && isStatement(c) {
			statement = s.text(file, c.Node())
		}
		if fn, ok := c.Node().(*ast.FuncDecl); ok {
			function = functionName(fn)
		}
	}
	return function, statement
}

// isStatement reports whether a finding in c is a finding in that statement,
// and not in one around it.
func isStatement(c inspector.Cursor) bool {
	switch c.Node().(type) {
	case *ast.BlockStmt, *ast.GenDecl:
		return false
	case *ast.Field:
		_, ok := c.Parent().Parent().Node().(*ast.FuncType)
		return !ok
	case ast.Stmt, ast.Spec, ast.Decl:
		return true
	}
	return false
}

// functionName returns a function's name as in go doc: Run, Lease.Expired.
func functionName(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return fn.Name.Name
	}
	t := fn.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.ParenExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name + "." + fn.Name.Name
		default:
			return fn.Name.Name
		}
	}
}

// text returns the source of n on one line: without comments, and without the
// blocks in it, which change for reasons of their own.
func (s *sources) text(file *ast.File, n ast.Node) string {
	tokens := s.fset.File(file.Package)
	src, ok := s.texts[tokens.Name()]
	if !ok {
		// A file that cannot be read any more leaves the text empty: the finding
		// is then told apart by its ordinal.
		src, _ = os.ReadFile(tokens.Name())
		s.texts[tokens.Name()] = src
	}
	if len(src) != tokens.Size() {
		return ""
	}
	var b strings.Builder
	from := n.Pos()
	for _, gap := range gaps(file, n) {
		if gap.pos >= from {
			b.Write(src[tokens.Offset(from):tokens.Offset(gap.pos)])
			b.WriteByte(' ')
			from = gap.end
		}
	}
	if end := headEnd(n); from < end {
		b.Write(src[tokens.Offset(from):tokens.Offset(end)])
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

type gap struct{ pos, end token.Pos }

// gaps returns what text leaves out between the start of n and its head's end:
// the bodies of function literals, and comments outside them.
func gaps(file *ast.File, n ast.Node) []gap {
	end := headEnd(n)
	var found []gap
	ast.Inspect(n, func(n ast.Node) bool {
		lit, ok := n.(*ast.FuncLit)
		if ok && lit.Body.Pos() < end {
			found = append(found, gap{lit.Body.Lbrace + 1, lit.Body.Rbrace})
		}
		return !ok
	})
	for _, group := range file.Comments {
		if n.Pos() <= group.Pos() && group.End() <= end {
			found = append(found, gap{group.Pos(), group.End()})
		}
	}
	slices.SortFunc(found, func(a, b gap) int { return cmp.Compare(a.pos, b.pos) })
	return found
}

// headEnd returns where the statement's own text ends: before the block it has,
// else at its end.
func headEnd(n ast.Node) token.Pos {
	switch n := n.(type) {
	case *ast.FuncDecl:
		if n.Body != nil {
			return n.Body.Pos()
		}
	case *ast.IfStmt:
		return n.Body.Pos()
	case *ast.ForStmt:
		return n.Body.Pos()
	case *ast.RangeStmt:
		return n.Body.Pos()
	case *ast.SwitchStmt:
		return n.Body.Pos()
	case *ast.TypeSwitchStmt:
		return n.Body.Pos()
	case *ast.SelectStmt:
		return n.Body.Pos()
	case *ast.CaseClause:
		return n.Colon
	case *ast.CommClause:
		return n.Colon
	case *ast.LabeledStmt:
		return n.Colon
	}
	return n.End()
}
