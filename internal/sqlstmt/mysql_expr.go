package sqlstmt

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sqlc-dev/marino/ast"
	mysqlmode "github.com/sqlc-dev/marino/mysql"
	"github.com/sqlc-dev/marino/opcode"
)

func (r *mysqlReader) exprs(list []ast.ExprNode) []Expr {
	if len(list) == 0 {
		return nil
	}
	out := make([]Expr, len(list))
	for i, e := range list {
		r.into(&out[i], e)
	}
	return out
}

func (r *mysqlReader) expr(e ast.ExprNode) (x Expr) {
	r.into(&x, e)
	return x
}

// into reads e into the zero dst.
func (r *mysqlReader) into(dst *Expr, e ast.ExprNode) {
	switch e := e.(type) {
	case nil:
	case *ast.ColumnNameExpr:
		r.column(dst, e.Name)
	case *ast.ParamMarkerExprBase:
		r.marker(dst, e.Offset)
	case *ast.ValueExprBase:
		mysqlLiteral(dst, e)
	case *ast.ParenthesesExpr:
		r.into(dst, e.Expr)
	case *ast.FuncCallExpr:
		r.funcCall(dst, e)
	case *ast.ValuesExpr:
		dst.column("excluded", e.Column.Name.Name.O)
	default:
		*dst = r.composed(e)
	}
}

// marker reads the parameter at the offset at.
func (r *mysqlReader) marker(dst *Expr, at int) {
	marks := r.bind.marks
	if marks == nil {
		marks = r.tree.markers()
	}
	i, ok := slices.BinarySearch(marks, at)
	if !ok {
		*dst = r.misread()
		return
	}
	r.param(dst, i+1)
}

// column reads a column, of the row an INSERT proposes if it is called that.
func (r *mysqlReader) column(dst *Expr, c *ast.ColumnName) {
	table, name := c.Table.O, c.Name.O
	alias, known := r.proposed.columns[c.Name.L]
	switch {
	case r.proposed.row == "" || c.Schema.O != "":
	case strings.EqualFold(table, r.proposed.row):
		table = "excluded"
		if known {
			name = alias
		}
	case table == "" && known:
		table, name = "excluded", alias
	}
	dst.column(table, name)
}

// composed reads an expression made of others.
func (r *mysqlReader) composed(node ast.ExprNode) Expr {
	switch e := node.(type) {
	case *ast.FuncCastExpr:
		return r.expr(e.Expr)
	case *ast.SetCollationExpr:
		return r.expr(e.Expr)
	case *ast.RowExpr:
		return Expr{Kind: Func, Name: "row", Args: r.exprs(e.Values)}
	case *ast.BinaryOperationExpr:
		if op := mysqlArith[e.Op]; op != "" {
			return Expr{Kind: Arith, Name: op, Args: []Expr{r.expr(e.L), r.expr(e.R)}}
		}
		return Expr{Kind: Compare, Conds: r.conds(nil, node)}
	case *ast.UnaryOperationExpr:
		return r.unary(e)
	case *ast.AggregateFuncExpr:
		x := r.call(strings.ToLower(e.F), e.OriginTextPosition(), e.Args)
		r.order(e.Order, nil)
		return x
	case *ast.WindowFuncExpr:
		x := r.call(strings.ToLower(e.Name), e.OriginTextPosition(), e.Args)
		r.window(&e.Spec)
		return x
	case *ast.CaseExpr:
		return r.caseExpr(e)
	case *ast.SubqueryExpr:
		return Expr{Kind: SubQuery, Sub: r.nested(r.query(e.Query))}
	case *ast.ExistsSubqueryExpr:
		if e.Not {
			return Expr{Kind: Compare, Conds: r.conds(nil, node)}
		}
		return Expr{Kind: Exists, Sub: r.subSelect(e.Sel)}
	case *ast.DefaultExpr:
		if e.Name == nil {
			return Expr{Kind: Literal, Name: "default", Text: "DEFAULT"}
		}
		return Expr{Kind: Func, Name: "default", Args: []Expr{column(e.Name.Table.O, e.Name.Name.O)}}
	case *ast.VariableExpr:
		return r.variable(e)
	case *ast.TimeUnitExpr:
		return Expr{Kind: Literal, Name: "string", Text: strings.ToLower(e.Unit.String())}
	case *ast.IsNullExpr, *ast.IsTruthExpr, *ast.PatternInExpr, *ast.PatternLikeOrIlikeExpr, *ast.PatternRegexpExpr,
		*ast.BetweenExpr, *ast.CompareSubqueryExpr:
		return Expr{Kind: Compare, Conds: r.conds(nil, node)}
	}
	return Expr{Args: r.visit(node)}
}

// variable reads @name or @@name, whose value only the session knows.
func (r *mysqlReader) variable(v *ast.VariableExpr) Expr {
	name := "@" + strings.ToLower(v.Name)
	if v.IsSystem {
		name = "@" + name
	}
	if strings.Contains(name, Hole) {
		return Expr{Kind: HoleExpr}
	}
	x := Expr{Name: name}
	if v.Value != nil { // @name := value
		x.Args = []Expr{r.expr(v.Value)}
	}
	return x
}

var mysqlArith = [...]string{
	opcode.Plus: "+", opcode.Minus: "-", opcode.Mul: "*", opcode.Div: "/", opcode.IntDiv: "div", opcode.Mod: "%",
	opcode.And: "&", opcode.Or: "|", opcode.Xor: "^", opcode.LeftShift: "<<", opcode.RightShift: ">>", opcode.IsFalsity: "",
}

var mysqlUnary = map[opcode.Op]string{opcode.Plus: "+", opcode.Minus: "-", opcode.BitNeg: "~"}

func (r *mysqlReader) unary(e *ast.UnaryOperationExpr) Expr {
	if e.Op == opcode.Not || e.Op == opcode.Not2 {
		return Expr{Kind: Compare, Conds: r.conds(nil, e)}
	}
	op := mysqlUnary[e.Op]
	x := r.expr(e.V)
	if op == "-" && x.minus() {
		return x
	}
	return Expr{Kind: Arith, Name: op, Args: []Expr{x}}
}

func mysqlLiteral(dst *Expr, v *ast.ValueExprBase) {
	switch v.Kind() {
	case ast.KindNull:
		dst.literal("null", "NULL")
	case ast.KindInt64:
		if v.Type.GetFlag()&mysqlmode.IsBooleanFlag != 0 {
			dst.literal("bool", strconv.FormatBool(v.GetInt64() != 0))
			return
		}
		dst.literal("number", strconv.FormatInt(v.GetInt64(), 10))
	case ast.KindUint64:
		dst.literal("number", strconv.FormatUint(v.GetUint64(), 10))
	case ast.KindFloat32, ast.KindFloat64:
		dst.literal("number", strconv.FormatFloat(v.GetFloat64(), 'g', -1, 64))
	case ast.KindMysqlDecimal:
		dst.literal("number", v.GetMysqlDecimal().String())
	case ast.KindBinaryLiteral:
		if v.Type.GetFlag()&mysqlmode.UnsignedFlag != 0 {
			dst.literal("blob", fmt.Sprintf("x'%x'", v.GetBytes()))
			return
		}
		dst.literal("bits", v.GetBinaryLiteral().ToBitLiteralString(true))
	default:
		dst.literal("string", v.GetString())
	}
}

// call reads the call of a function.
func (r *mysqlReader) call(name string, at int, args []ast.ExprNode) Expr {
	r.reader.call(name, at)
	return Expr{Kind: Func, Name: name, Args: r.exprs(args)}
}

// spelled are functions the parser gives another name.
var spelled = map[string]string{ast.InsertFunc: "insert", ast.CharFunc: "char"}

// intervals are the functions that add an interval, which + and - do too.
var intervals = map[string]string{
	"date_add": "+", "adddate": "+", "date_sub": "-", "subdate": "-",
}

func (r *mysqlReader) funcCall(dst *Expr, f *ast.FuncCallExpr) {
	name := f.FnName.L
	switch {
	case name == "if" && len(f.Args) == 3:
		dst.Kind = Case
		dst.Conds = []Cond{conj(r.conds(nil, f.Args[0]))}
		dst.Args = r.exprs(f.Args[1:])
	case name == "convert" && len(f.Args) == 2: // to a character set
		r.into(dst, f.Args[0])
	case intervals[name] != "" && len(f.Args) == 3:
		args := r.exprs(f.Args)
		dst.Kind, dst.Name = Arith, intervals[name]
		dst.Args = []Expr{args[0], {Kind: Func, Name: "interval", Args: args[1:]}}
	default:
		if s, ok := spelled[name]; ok {
			name = s
		}
		*dst = r.call(name, f.OriginTextPosition(), f.Args)
	}
}

func (r *mysqlReader) caseExpr(c *ast.CaseExpr) Expr {
	e := Expr{Kind: Case}
	subject := r.expr(c.Value)
	for _, w := range c.WhenClauses {
		if c.Value != nil {
			e.Conds = append(e.Conds, conj(compare(nil, "=", subject, r.expr(w.Expr))))
		} else {
			e.Conds = append(e.Conds, conj(r.conds(nil, w.Expr)))
		}
		e.Args = append(e.Args, r.expr(w.Result))
	}
	if c.ElseClause != nil {
		e.Args = append(e.Args, r.expr(c.ElseClause))
	}
	return e
}

func (r *mysqlReader) subSelect(e ast.ExprNode) *Query {
	sub, ok := e.(*ast.SubqueryExpr)
	if !ok {
		return nil
	}
	return r.nested(r.query(sub.Query))
}

// conds appends a condition as the conditions that are all required.
func (r *mysqlReader) conds(dst []Cond, node ast.ExprNode) []Cond {
	switch e := node.(type) {
	case nil:
		return dst
	case *ast.ParenthesesExpr:
		return r.conds(dst, e.Expr)
	case *ast.BinaryOperationExpr:
		return r.binary(dst, e)
	case *ast.UnaryOperationExpr:
		if e.Op == opcode.Not || e.Op == opcode.Not2 {
			return append(dst, negate(r.conds(nil, e.V))...)
		}
	case *ast.IsNullExpr:
		return append(dst, Cond{Op: nullTest(e.Not), Left: r.expr(e.Expr)})
	case *ast.IsTruthExpr:
		return append(dst, isTruth(r.conds(nil, e.Expr), e.True != 0, e.Not)...)
	case *ast.PatternLikeOrIlikeExpr:
		return append(dst, Cond{Op: negated(e.Not, "LIKE"), Left: r.expr(e.Expr), Right: r.expr(e.Pattern)})
	case *ast.PatternRegexpExpr:
		return append(dst, Cond{Op: negated(e.Not, "REGEXP"), Left: r.expr(e.Expr), Right: r.expr(e.Pattern)})
	case *ast.BetweenExpr:
		cs := between(r.expr(e.Expr), r.expr(e.Left), r.expr(e.Right))
		if e.Not {
			cs = negate(cs)
		}
		return append(dst, cs...)
	case *ast.PatternInExpr:
		return r.in(dst, e)
	case *ast.CompareSubqueryExpr:
		return append(dst, r.quantified(e))
	case *ast.ExistsSubqueryExpr:
		return append(dst, Cond{Op: negated(e.Not, "EXISTS"), Sub: r.subSelect(e.Sel)})
	}
	return truth(dst, r.expr(node))
}

func negated(not bool, op string) string {
	if not {
		return "NOT " + op
	}
	return op
}

var mysqlComparisons = [...]string{
	opcode.EQ: "=", opcode.NullEQ: "=", opcode.NE: "<>", opcode.LT: "<", opcode.LE: "<=", opcode.GT: ">", opcode.GE: ">=",
	opcode.IsFalsity: "",
}

func (r *mysqlReader) binary(dst []Cond, e *ast.BinaryOperationExpr) []Cond {
	switch e.Op {
	case opcode.LogicAnd:
		if cap(dst)-len(dst) < 2 {
			dst = slices.Grow(dst, mysqlChain(e))
		}
		return r.conds(r.conds(dst, e.L), e.R)
	case opcode.LogicOr:
		return append(dst, disj(r.either(e))...)
	case opcode.LogicXor:
		arms := []Expr{{Kind: Compare, Conds: r.conds(nil, e.L)}, {Kind: Compare, Conds: r.conds(nil, e.R)}}
		return append(dst, Cond{Op: "BOOL", Left: Expr{Kind: Arith, Name: "xor", Args: arms}})
	}
	op := mysqlComparisons[e.Op]
	switch {
	case op == "" && mysqlArith[e.Op] == "":
		return append(dst, Cond{Op: "UNKNOWN", Left: Expr{Args: r.visit(e)}})
	case op == "":
		return truth(dst, r.expr(e))
	}
	if r.madeOperator(e.R.OriginTextPosition()) {
		op = "UNKNOWN"
	}
	dst, c := another(dst, op)
	r.into(&c.Left, e.L)
	r.into(&c.Right, e.R)
	if e.Op == opcode.NullEQ && c.Right.Kind == Literal && c.Right.Name == "null" {
		c.Op, c.Right = nullTest(false), Expr{}
	}
	r.doubtQuotes(c, e)
	return byColumn(dst)
}

// madeOperator tells whether the operator before the operand at the offset at is
// what was put for a hole.
func (r *mysqlReader) madeOperator(at int) bool {
	for _, h := range r.bind.holes {
		if h.end <= at && strings.TrimSpace(r.text[h.start:h.end]) == "=" && strings.TrimSpace(r.text[h.end:at]) == "" {
			return true
		}
	}
	return false
}

// doubtQuotes makes what is in double quotes unknown where it is compared with
// something else than a column: it is one itself if the server's mode is
// ANSI_QUOTES.
func (r *mysqlReader) doubtQuotes(c *Cond, e *ast.BinaryOperationExpr) {
	if r.tree.engine.ansi {
		return
	}
	if r.doubleQuoted(e.L) && !hasColumn(c.Right) {
		c.Left = r.misread()
	}
	if r.doubleQuoted(e.R) && !hasColumn(c.Left) {
		c.Right = r.misread()
	}
}

func (r *mysqlReader) doubleQuoted(e ast.ExprNode) bool {
	v, ok := e.(*ast.ValueExprBase)
	if !ok || v.Kind() != ast.KindString {
		return false
	}
	at := v.OriginTextPosition()
	return at < len(r.text) && r.text[at] == '"'
}

func hasColumn(e Expr) bool {
	found := false
	e.Walk(func(e Expr) { found = found || e.Kind == Column })
	return found
}

// mysqlChain is the length of a chain of the same operator, which is nested to the left.
func mysqlChain(e *ast.BinaryOperationExpr) int {
	n := 2
	for x, ok := e.L.(*ast.BinaryOperationExpr); ok && x.Op == e.Op; x, ok = x.L.(*ast.BinaryOperationExpr) {
		n++
	}
	return n
}

// either collects the arms of a chain of ORs.
func (r *mysqlReader) either(e *ast.BinaryOperationExpr) [][]Cond {
	var out [][]Cond
	if x, ok := e.L.(*ast.BinaryOperationExpr); ok && x.Op == opcode.LogicOr {
		out = r.either(x)
	} else {
		out = append(out, r.conds(nil, e.L))
	}
	return append(out, r.conds(nil, e.R))
}

func (r *mysqlReader) in(dst []Cond, e *ast.PatternInExpr) []Cond {
	c := Cond{Op: "IN", Left: r.expr(e.Expr), List: r.exprs(e.List)}
	if e.Sel != nil {
		c.Sub = r.subSelect(e.Sel)
	}
	if e.Not {
		return append(dst, negateOne(c)...)
	}
	return append(dst, c)
}

func (r *mysqlReader) quantified(e *ast.CompareSubqueryExpr) Cond {
	c := Cond{Op: mysqlComparisons[e.Op], Left: r.expr(e.L)}
	switch {
	case e.All:
		c.Op += " ALL"
	case c.Op == "=":
		c.Op = "IN"
	default:
		c.Op += " ANY"
	}
	c.Sub = r.subSelect(e.R)
	return c
}

// visit reads every expression below a node no rule above knows, so that no
// function, parameter or sub-select in it is missed.
func (r *mysqlReader) visit(root ast.Node) []Expr {
	v := &mysqlVisitor{r: r, root: root}
	root.Accept(v)
	return v.out
}

// mysqlVisitor collects the topmost expressions below a node.
type mysqlVisitor struct {
	r    *mysqlReader
	root ast.Node
	out  []Expr
}

func (v *mysqlVisitor) Enter(n ast.Node) (ast.Node, bool) {
	if n == v.root {
		return n, false
	}
	switch n := n.(type) {
	case *ast.ColumnName:
		v.out = append(v.out, column(n.Table.O, n.Name.O))
		return n, true
	case ast.ExprNode:
		v.out = append(v.out, v.r.expr(n))
		return n, true
	}
	return n, false
}

func (v *mysqlVisitor) Leave(n ast.Node) (ast.Node, bool) { return n, true }
