package suppress

import (
	"go/ast"
	"go/token"
)

// extent is the part of a file that a directive silences.
type extent struct {
	pos, end token.Pos
}

func (e extent) contains(pos token.Pos) bool { return e.pos <= pos && pos < e.end }

// attach finds what each directive of a file stands beside.
func attach(fset *token.FileSet, file *ast.File, directives []*directive) {
	if len(directives) == 0 {
		return
	}
	line := func(pos token.Pos) int { return fset.PositionFor(pos, false).Line }
	starts, ends := byLine(file, line)
	for _, d := range directives {
		at := line(d.comment.Pos())
		// At the end of a first line; else at the end of a last line; else in
		// front; else between the lines of a statement.
		n := starts[at]
		if n == nil || n.Pos() > d.comment.Pos() {
			n = ends[at]
		}
		if n == nil {
			n = starts[lastLine(file, d.comment, line)+1]
		}
		if n == nil {
			n = around(file, d.comment)
		}
		if n != nil {
			d.extent = extent{n.Pos(), n.End()}
		}
	}
}

// byLine returns the outermost statement or declaration that starts on each
// line, and the outermost simple statement that ends on each.
func byLine(file *ast.File, line func(token.Pos) int) (starts, ends map[int]ast.Node) {
	starts, ends = make(map[int]ast.Node), make(map[int]ast.Node)
	ast.Inspect(file, func(n ast.Node) bool {
		if !silenceable(n) {
			return true
		}
		if at := line(n.Pos()); starts[at] == nil {
			starts[at] = n
		}
		// A comment behind the closing brace of a block or function is about
		// that brace: it would silence more than its reader sees.
		if at := line(n.End()); ends[at] == nil && simple(n) {
			ends[at] = n
		}
		return true
	})
	return starts, ends
}

// lastLine returns the last line of the comment group c belongs to: directives
// for several tools stand in a block, or below a doc comment.
func lastLine(file *ast.File, c *ast.Comment, line func(token.Pos) int) int {
	for _, group := range file.Comments {
		if group.Pos() <= c.Pos() && c.End() <= group.End() {
			return line(group.End())
		}
	}
	return line(c.End())
}

// around returns the statement between whose lines c stands, if c is not in a
// block of it.
func around(file *ast.File, c *ast.Comment) ast.Node {
	var found ast.Node
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil || c.Pos() < n.Pos() || n.End() < c.End() {
			return false
		}
		switch n := n.(type) {
		case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause, *ast.FieldList, *ast.GenDecl:
			found = nil
		default:
			if silenceable(n) {
				found = n
			}
		}
		return true
	})
	return found
}

// silenceable reports whether a directive can be about n.
func silenceable(n ast.Node) bool {
	switch n.(type) {
	case *ast.BlockStmt:
		return false
	case ast.Stmt, ast.Decl, ast.Spec, *ast.Field:
		return true
	}
	return false
}

// simple reports whether n has no block of its own.
func simple(n ast.Node) bool {
	switch n.(type) {
	case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt,
		*ast.SelectStmt, *ast.CaseClause, *ast.CommClause, *ast.LabeledStmt, *ast.FuncDecl:
		return false
	}
	return true
}
