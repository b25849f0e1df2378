package sqlstmt

import (
	"strconv"
	"strings"

	"github.com/sqlc-dev/meyer/ast"
)

func (r sqliteReader) exprs(list []ast.Expr) []Expr {
	if len(list) == 0 {
		return nil
	}
	out := make([]Expr, len(list))
	for i, e := range list {
		out[i] = r.expr(e)
	}
	return out
}

func (r sqliteReader) expr(e ast.Expr) Expr {
	switch e := e.(type) {
	case nil:
		return Expr{}
	case *ast.Ident:
		return sqliteName(e)
	case *ast.QualifiedRef:
		n := len(e.Parts)
		return column(e.Parts[n-2].Name, e.Parts[n-1].Name)
	case *ast.Star:
		return Expr{Kind: Star, Table: ident(e.Table)}
	case *ast.Literal:
		return r.literal(e)
	case *ast.BindParam:
		return r.param(e)
	case *ast.ParenExpr:
		return r.expr(e.X)
	case *ast.CastExpr:
		return r.expr(e.X)
	case *ast.CollateExpr:
		return r.expr(e.X)
	case *ast.VectorExpr:
		return Expr{Kind: Func, Name: "row", Args: r.exprs(e.List)}
	case *ast.FuncCall:
		return r.funcCall(e)
	case *ast.BinaryExpr:
		op, compares := comparison(e.Op.String())
		if compares || e.Op == ast.OpAnd || e.Op == ast.OpOr {
			break
		}
		return Expr{Kind: Arith, Name: op, Args: []Expr{r.expr(e.X), r.expr(e.Y)}}
	case *ast.UnaryExpr:
		if e.Op == ast.OpNot {
			break
		}
		return Expr{Kind: Arith, Name: e.Op.String(), Args: []Expr{r.expr(e.X)}}
	case *ast.CaseExpr:
		return r.caseExpr(e)
	case *ast.ExistsExpr:
		return Expr{Kind: Exists, Sub: r.nested(r.query(e.Select))}
	case *ast.SubqueryExpr:
		return Expr{Kind: SubQuery, Sub: r.nested(r.query(e.Select))}
	case *ast.RaiseExpr:
		return Expr{}
	}
	return Expr{Kind: Compare, Conds: r.conds(e)}
}

// sqliteName is a column, or one of the two words that are values.
func sqliteName(i *ast.Ident) Expr {
	if i.Quote == ast.QuoteNone && (strings.EqualFold(i.Name, "true") || strings.EqualFold(i.Name, "false")) {
		return literal("bool", strings.ToLower(i.Name))
	}
	return column("", i.Name)
}

func (r sqliteReader) literal(l *ast.Literal) Expr {
	switch l.Kind {
	case ast.LitNull:
		return literal("null", "NULL")
	case ast.LitInteger, ast.LitFloat:
		return literal("number", l.Value)
	case ast.LitBlob:
		return literal("blob", l.Value)
	case ast.LitCurrentDate, ast.LitCurrentTime, ast.LitCurrentTimestamp:
		name := strings.ToLower(l.Raw)
		r.call(name, l.Start)
		return Expr{Kind: Func, Name: name}
	}
	return literal("string", l.Value)
}

func (r sqliteReader) param(p *ast.BindParam) Expr {
	e := Expr{Kind: Param, N: p.Number + r.bind.base, Name: p.Name}
	n, err := strconv.Atoi(p.Name)
	if err == nil && n >= paramBase {
		return r.bind.param(n)
	}
	positional := p.Kind == ast.ParamAnon
	if err == nil { // $1 is a name to SQLite, a position to its drivers
		e.Name, positional = "", true
	}
	if positional && r.bind.shifted > 0 && p.Start >= r.bind.shifted {
		e.N = 0
	}
	return e
}

func (r sqliteReader) funcCall(f *ast.FuncCall) Expr {
	name := strings.ToLower(f.Name.Name)
	r.call(name, f.Start)
	e := Expr{Kind: Func, Name: name, Args: r.exprs(f.Args)}
	r.order(f.OrderBy, nil)
	r.conds(f.Filter)
	if f.Over != nil {
		r.window(f.Over)
	}
	return e
}

func (r sqliteReader) caseExpr(c *ast.CaseExpr) Expr {
	e := Expr{Kind: Case}
	subject := r.expr(c.Operand)
	for _, w := range c.Whens {
		if c.Operand != nil {
			e.Conds = append(e.Conds, conj(compare("=", subject, r.expr(w.When))))
		} else {
			e.Conds = append(e.Conds, conj(r.conds(w.When)))
		}
		e.Args = append(e.Args, r.expr(w.Then))
	}
	if c.Else != nil {
		e.Args = append(e.Args, r.expr(c.Else))
	}
	return e
}

// conds reads a condition as the conditions that are all required.
func (r sqliteReader) conds(e ast.Expr) []Cond {
	switch e := e.(type) {
	case nil:
		return nil
	case *ast.ParenExpr:
		return r.conds(e.X)
	case *ast.BinaryExpr:
		return r.binary(e)
	case *ast.UnaryExpr:
		if e.Op == ast.OpNot {
			return negate(r.conds(e.X))
		}
	case *ast.LikeExpr:
		op := strings.ToUpper(e.Op.Name)
		if e.Not {
			op = "NOT " + op
		}
		return []Cond{{Op: op, Left: r.expr(e.X), Right: r.expr(e.Y)}}
	case *ast.NullCheckExpr:
		return []Cond{{Op: nullTest(e.Test != ast.TestIsNull), Left: r.expr(e.X)}}
	case *ast.IsExpr:
		return r.is(e)
	case *ast.BetweenExpr:
		cs := between(r.expr(e.X), r.expr(e.Lo), r.expr(e.Hi))
		if e.Not {
			return negate(cs)
		}
		return cs
	case *ast.InExpr:
		return r.in(e)
	}
	return truth(r.expr(e))
}

func nullTest(not bool) string {
	if not {
		return "IS NOT NULL"
	}
	return "IS NULL"
}

func (r sqliteReader) binary(e *ast.BinaryExpr) []Cond {
	switch e.Op {
	case ast.OpAnd:
		return append(r.conds(e.X), r.conds(e.Y)...)
	case ast.OpOr:
		return disj([][]Cond{r.conds(e.X), r.conds(e.Y)})
	}
	op, compares := comparison(e.Op.String())
	if !compares {
		return truth(r.expr(e))
	}
	for _, h := range r.bind.holes { // the operator itself may be the hole
		if e.X.End() <= h.start && h.end <= e.Y.Pos() {
			op = "UNKNOWN"
		}
	}
	return compare(op, r.expr(e.X), r.expr(e.Y))
}

// is reads IS, which in SQLite compares any two values, NULLs included.
func (r sqliteReader) is(e *ast.IsExpr) []Cond {
	not := e.Not != e.Distinct
	if y := r.expr(e.Y); y.Kind == Literal {
		switch y.Name {
		case "null":
			return []Cond{{Op: nullTest(not), Left: r.expr(e.X)}}
		case "bool":
			return isTruth(r.conds(e.X), y.Text == "true", not)
		}
	}
	op := "="
	if not {
		op = "<>"
	}
	return compare(op, r.expr(e.X), r.expr(e.Y))
}

func (r sqliteReader) in(e *ast.InExpr) []Cond {
	c := Cond{Op: "IN", Left: r.expr(e.X)}
	switch {
	case e.Select != nil:
		c.Sub = r.nested(r.query(e.Select))
	case e.Table != nil:
		sub := &Query{Output: []Expr{{Kind: Star}}}
		r.fromItem(&ast.TableRef{Span: e.Table.Span, Name: e.Table, Args: e.Args, HasArgs: e.HasArgs},
			source{&sub.From, &sub.Derived, &sub.Where})
		c.Sub = r.nested(sub)
	default:
		c.List = r.exprs(e.List)
	}
	if e.Not {
		return negate([]Cond{c})
	}
	return []Cond{c}
}
