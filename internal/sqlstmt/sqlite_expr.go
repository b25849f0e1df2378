package sqlstmt

import (
	"strings"

	"github.com/sqlc-dev/meyer/ast"
)

func (r sqliteReader) exprs(list []ast.Expr) []Expr {
	if len(list) == 0 {
		return nil
	}
	out := make([]Expr, len(list))
	for i, e := range list {
		r.into(&out[i], e)
	}
	return out
}

func (r sqliteReader) expr(e ast.Expr) (x Expr) {
	r.into(&x, e)
	return x
}

// into reads e into the zero dst.
func (r sqliteReader) into(dst *Expr, e ast.Expr) {
	switch e := e.(type) {
	case nil:
	case *ast.Ident:
		sqliteName(dst, e)
	case *ast.QualifiedRef:
		n := len(e.Parts)
		dst.column(e.Parts[n-2].Name, e.Parts[n-1].Name)
	case *ast.Star:
		dst.Kind, dst.Table = Star, ident(e.Table)
	case *ast.Literal:
		r.literal(dst, e)
	case *ast.BindParam:
		r.param(dst, e)
	case *ast.ParenExpr:
		r.into(dst, e.X)
	case *ast.FuncCall:
		r.funcCall(dst, e)
	default:
		*dst = r.composed(e)
	}
}

// composed reads an expression made of others.
func (r sqliteReader) composed(e ast.Expr) Expr {
	switch e := e.(type) {
	case *ast.CastExpr:
		return r.expr(e.X)
	case *ast.CollateExpr:
		return r.expr(e.X)
	case *ast.VectorExpr:
		return Expr{Kind: Func, Name: "row", Args: r.exprs(e.List)}
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
		x := r.expr(e.X)
		if e.Op == ast.OpMinus && x.minus() {
			return x
		}
		return Expr{Kind: Arith, Name: e.Op.String(), Args: []Expr{x}}
	case *ast.CaseExpr:
		return r.caseExpr(e)
	case *ast.ExistsExpr:
		return Expr{Kind: Exists, Sub: r.nested(r.query(e.Select))}
	case *ast.SubqueryExpr:
		return Expr{Kind: SubQuery, Sub: r.nested(r.query(e.Select))}
	case *ast.RaiseExpr:
		return Expr{}
	}
	return Expr{Kind: Compare, Conds: r.conds(nil, e)}
}

// sqliteName is a column, or one of the two words that are values.
func sqliteName(dst *Expr, i *ast.Ident) {
	if n := len(i.Name); (n == len("true") || n == len("false")) && i.Quote == ast.QuoteNone && (strings.EqualFold(i.Name, "true") || strings.EqualFold(i.Name, "false")) {
		dst.literal("bool", strings.ToLower(i.Name))
		return
	}
	dst.column("", i.Name)
}

func (r sqliteReader) literal(dst *Expr, l *ast.Literal) {
	switch l.Kind {
	case ast.LitNull:
		dst.literal("null", "NULL")
	case ast.LitInteger, ast.LitFloat:
		dst.literal("number", l.Value)
	case ast.LitBlob:
		dst.literal("blob", l.Value)
	case ast.LitCurrentDate, ast.LitCurrentTime, ast.LitCurrentTimestamp:
		dst.Kind, dst.Name = Func, strings.ToLower(l.Raw)
		r.call(dst.Name, l.Start)
	default:
		dst.literal("string", l.Value)
	}
}

func (r sqliteReader) param(e *Expr, p *ast.BindParam) {
	e.Kind, e.N, e.Name = Param, p.Number+r.bind.base, p.Name
	positional := p.Kind == ast.ParamAnon
	if p.Name != "" && isDigit(p.Name[0]) { // $1 is a name to SQLite, a position to its drivers
		if n, ok := number(p.Name); ok && n >= paramBase {
			e.Name = ""
			r.reader.param(e, n)
			return
		}
		e.Name, positional = "", true
	}
	if positional && r.bind.shifted > 0 && p.Start >= r.bind.shifted {
		e.N = 0
	}
}

func (r sqliteReader) funcCall(dst *Expr, f *ast.FuncCall) {
	dst.Kind, dst.Name = Func, strings.ToLower(f.Name.Name)
	r.call(dst.Name, f.Start)
	dst.Args = r.exprs(f.Args)
	r.order(f.OrderBy, nil)
	r.conds(nil, f.Filter)
	if f.Over != nil {
		r.window(f.Over)
	}
}

func (r sqliteReader) caseExpr(c *ast.CaseExpr) Expr {
	e := Expr{Kind: Case}
	subject := r.expr(c.Operand)
	for _, w := range c.Whens {
		if c.Operand != nil {
			e.Conds = append(e.Conds, conj(compare(nil, "=", subject, r.expr(w.When))))
		} else {
			e.Conds = append(e.Conds, conj(r.conds(nil, w.When)))
		}
		e.Args = append(e.Args, r.expr(w.Then))
	}
	if c.Else != nil {
		e.Args = append(e.Args, r.expr(c.Else))
	}
	return e
}

// conds appends a condition as the conditions that are all required.
func (r sqliteReader) conds(dst []Cond, e ast.Expr) []Cond {
	switch e := e.(type) {
	case nil:
		return dst
	case *ast.ParenExpr:
		return r.conds(dst, e.X)
	case *ast.BinaryExpr:
		return r.binary(dst, e)
	case *ast.UnaryExpr:
		if e.Op == ast.OpNot {
			return append(dst, negate(r.conds(nil, e.X))...)
		}
	case *ast.LikeExpr:
		op := strings.ToUpper(e.Op.Name)
		if e.Not {
			op = "NOT " + op
		}
		return append(dst, Cond{Op: op, Left: r.expr(e.X), Right: r.expr(e.Y)})
	case *ast.NullCheckExpr:
		return append(dst, Cond{Op: nullTest(e.Test != ast.TestIsNull), Left: r.expr(e.X)})
	case *ast.IsExpr:
		return r.is(dst, e)
	case *ast.BetweenExpr:
		cs := between(r.expr(e.X), r.expr(e.Lo), r.expr(e.Hi))
		if e.Not {
			cs = negate(cs)
		}
		return append(dst, cs...)
	case *ast.InExpr:
		return r.in(dst, e)
	}
	return truth(dst, r.expr(e))
}

var sqliteComparisons = [...]string{
	ast.OpEq: "=", ast.OpNe: "<>", ast.OpLt: "<", ast.OpLe: "<=", ast.OpGt: ">", ast.OpGe: ">=",
}

func (r sqliteReader) binary(dst []Cond, e *ast.BinaryExpr) []Cond {
	switch e.Op {
	case ast.OpAnd:
		if dst == nil {
			dst = make([]Cond, 0, chain(e))
		}
		return r.conds(r.conds(dst, e.X), e.Y)
	case ast.OpOr:
		return append(dst, disj(r.arms(e))...)
	}
	if int(e.Op) >= len(sqliteComparisons) || sqliteComparisons[e.Op] == "" {
		return truth(dst, r.expr(e))
	}
	op := sqliteComparisons[e.Op]
	for _, h := range r.bind.holes { // the operator itself may be the hole
		if e.X.End() <= h.start && h.end <= e.Y.Pos() {
			op = "UNKNOWN"
		}
	}
	dst, c := another(dst, op)
	r.into(&c.Left, e.X)
	r.into(&c.Right, e.Y)
	return byColumn(dst)
}

// chain is the length of a chain of the same operator, which is nested to the left.
func chain(e *ast.BinaryExpr) int {
	n := 2
	for x, ok := e.X.(*ast.BinaryExpr); ok && x.Op == e.Op; x, ok = x.X.(*ast.BinaryExpr) {
		n++
	}
	return n
}

// arms collects those of a chain of ORs.
func (r sqliteReader) arms(e *ast.BinaryExpr) [][]Cond {
	var out [][]Cond
	if x, ok := e.X.(*ast.BinaryExpr); ok && x.Op == ast.OpOr {
		out = r.arms(x)
	} else {
		out = append(out, r.conds(nil, e.X))
	}
	return append(out, r.conds(nil, e.Y))
}

// is reads IS, which in SQLite compares any two values, NULLs included.
func (r sqliteReader) is(dst []Cond, e *ast.IsExpr) []Cond {
	not := e.Not != e.Distinct
	if y, ok := constant(e.Y); ok {
		switch y.Name {
		case "null":
			return append(dst, Cond{Op: nullTest(not), Left: r.expr(e.X)})
		case "bool":
			return append(dst, isTruth(r.conds(nil, e.X), y.Text == "true", not)...)
		}
	}
	op := "="
	if not {
		op = "<>"
	}
	return compare(dst, op, r.expr(e.X), r.expr(e.Y))
}

// constant is e if it is NULL, TRUE or FALSE.
func constant(e ast.Expr) (Expr, bool) {
	switch e := e.(type) {
	case *ast.Literal:
		return Expr{Kind: Literal, Name: "null", Text: "NULL"}, e.Kind == ast.LitNull
	case *ast.Ident:
		var x Expr
		sqliteName(&x, e)
		return x, x.Kind == Literal
	}
	return Expr{}, false
}

func (r sqliteReader) in(dst []Cond, e *ast.InExpr) []Cond {
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
		return append(dst, negateOne(c)...)
	}
	return append(dst, c)
}
