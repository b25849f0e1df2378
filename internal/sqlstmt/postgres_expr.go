package sqlstmt

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sqlc-dev/oliphant/ast"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

func (r *pgReader) exprs(list []*ast.Node) []Expr {
	if len(list) == 0 {
		return nil
	}
	out := make([]Expr, len(list))
	for i, n := range list {
		r.into(&out[i], n)
	}
	return out
}

// ignore reads expressions for the functions and sub-selects in them.
func (r *pgReader) ignore(list ...*ast.Node) {
	for _, n := range list {
		if n != nil {
			r.expr(n)
		}
	}
}

func (r *pgReader) expr(node *ast.Node) (e Expr) {
	r.into(&e, node)
	return e
}

// into reads node into the zero dst.
func (r *pgReader) into(dst *Expr, node *ast.Node) {
	switch n := node.GetNode().(type) {
	case nil:
	case *ast.Node_ColumnRef:
		columnRef(dst, n.ColumnRef)
	case *ast.Node_ParamRef:
		r.param(dst, int(n.ParamRef.Number))
	case *ast.Node_AConst:
		pgConst(dst, n.AConst)
	case *ast.Node_TypeCast:
		r.cast(dst, n.TypeCast)
	default:
		*dst = r.composed(node)
	}
}

// composed reads an expression made of others.
func (r *pgReader) composed(node *ast.Node) Expr {
	switch n := node.GetNode().(type) {
	case *ast.Node_FuncCall:
		return r.funcCall(n.FuncCall)
	case *ast.Node_SqlvalueFunction:
		return r.builtin(valueFuncs[n.SqlvalueFunction.Op], int(n.SqlvalueFunction.Location))
	case *ast.Node_CoalesceExpr:
		return r.builtin("coalesce", int(n.CoalesceExpr.Location), n.CoalesceExpr.Args...)
	case *ast.Node_MinMaxExpr:
		name := "greatest"
		if n.MinMaxExpr.Op == ast.MinMaxOp_IS_LEAST {
			name = "least"
		}
		return r.builtin(name, int(n.MinMaxExpr.Location), n.MinMaxExpr.Args...)
	case *ast.Node_RowExpr:
		return Expr{Kind: Func, Name: "row", Args: r.exprs(n.RowExpr.Args)}
	case *ast.Node_AArrayExpr:
		return Expr{Kind: Func, Name: "array", Args: r.exprs(n.AArrayExpr.Elements)}
	case *ast.Node_AExpr:
		return r.operation(n.AExpr)
	case *ast.Node_BoolExpr, *ast.Node_NullTest, *ast.Node_BooleanTest:
		return Expr{Kind: Compare, Conds: r.conds(nil, node)}
	case *ast.Node_SubLink:
		return r.subLink(n.SubLink)
	case *ast.Node_CaseExpr:
		return r.caseExpr(n.CaseExpr)
	case *ast.Node_CollateClause:
		return r.expr(n.CollateClause.Arg)
	case *ast.Node_NamedArgExpr:
		return r.expr(n.NamedArgExpr.Arg)
	case *ast.Node_SetToDefault:
		return Expr{Kind: Literal, Name: "default", Text: "DEFAULT"}
	case *ast.Node_ResTarget:
		return r.expr(n.ResTarget.Val)
	case *ast.Node_SortBy:
		return r.expr(n.SortBy.Node)
	default:
		return Expr{Args: r.visit(node)}
	}
}

// columnRef reads a, t.a, s.t.a, * and t.*.
func columnRef(dst *Expr, c *ast.ColumnRef) {
	last := len(c.Fields) - 1
	if last < 0 {
		return
	}
	table := ""
	if last > 0 {
		table = c.Fields[last-1].GetString_().GetSval()
	}
	if c.Fields[last].GetAStar() != nil {
		dst.Kind, dst.Table = Star, table
		return
	}
	dst.column(table, c.Fields[last].GetString_().GetSval())
}

func pgConst(dst *Expr, c *ast.A_Const) {
	switch v := c.Val.(type) {
	case *ast.A_Const_Ival:
		dst.literal("number", strconv.Itoa(int(v.Ival.GetIval())))
	case *ast.A_Const_Fval:
		dst.literal("number", v.Fval.GetFval())
	case *ast.A_Const_Boolval:
		dst.literal("bool", strconv.FormatBool(v.Boolval.GetBoolval()))
	case *ast.A_Const_Sval:
		dst.literal("string", v.Sval.GetSval())
	case *ast.A_Const_Bsval:
		dst.literal("bits", v.Bsval.GetBsval())
	default:
		dst.literal("null", "NULL")
	}
}

// cast drops the type. Of `fence $3`, which the parser takes for the type fence
// before a value, it keeps nothing: no server accepts it.
func (r *pgReader) cast(dst *Expr, c *ast.TypeCast) {
	r.into(dst, c.Arg)
	if dst.Kind == Param && c.Arg.GetParamRef() != nil && !r.castWritten(int(c.Location)) {
		*dst = r.misread()
	}
}

// castWritten tells whether a cast is spelled out at the offset at.
func (r *pgReader) castWritten(at int) bool {
	if at < 0 || at >= len(r.text) {
		return false
	}
	rest := r.text[at:]
	return strings.HasPrefix(rest, "::") || len(rest) > 4 && strings.EqualFold(rest[:4], "cast") && !isWordByte(rest[4])
}

// valueFuncs are the functions that are written without parentheses.
var valueFuncs = map[ast.SQLValueFunctionOp]string{
	ast.SQLValueFunctionOp_SVFOP_CURRENT_DATE:        "current_date",
	ast.SQLValueFunctionOp_SVFOP_CURRENT_TIME:        "current_time",
	ast.SQLValueFunctionOp_SVFOP_CURRENT_TIME_N:      "current_time",
	ast.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP:   "current_timestamp",
	ast.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP_N: "current_timestamp",
	ast.SQLValueFunctionOp_SVFOP_LOCALTIME:           "localtime",
	ast.SQLValueFunctionOp_SVFOP_LOCALTIME_N:         "localtime",
	ast.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP:      "localtimestamp",
	ast.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP_N:    "localtimestamp",
	ast.SQLValueFunctionOp_SVFOP_CURRENT_ROLE:        "current_role",
	ast.SQLValueFunctionOp_SVFOP_CURRENT_USER:        "current_user",
	ast.SQLValueFunctionOp_SVFOP_USER:                "user",
	ast.SQLValueFunctionOp_SVFOP_SESSION_USER:        "session_user",
	ast.SQLValueFunctionOp_SVFOP_CURRENT_CATALOG:     "current_catalog",
	ast.SQLValueFunctionOp_SVFOP_CURRENT_SCHEMA:      "current_schema",
}

func (r *pgReader) builtin(name string, at int, args ...*ast.Node) Expr {
	r.call(name, at)
	return Expr{Kind: Func, Name: name, Args: r.exprs(args)}
}

func (r *pgReader) funcCall(f *ast.FuncCall) Expr {
	name := ""
	if len(f.Funcname) > 0 {
		name = strings.ToLower(f.Funcname[len(f.Funcname)-1].GetString_().GetSval())
	}
	e := r.builtin(name, int(f.Location), f.Args...)
	if name == "set_config" {
		r.setting(e.Args)
	}
	r.ignore(f.AggOrder...)
	r.ignore(f.AggFilter)
	if f.Over != nil {
		r.visit(f.Over)
	}
	return e
}

// operation reads an operator in a place where a value is wanted.
func (r *pgReader) operation(a *ast.A_Expr) Expr {
	name := operator(a.Name)
	switch a.Kind {
	case ast.A_Expr_Kind_AEXPR_NULLIF:
		return r.builtin("nullif", int(a.Location), a.Lexpr, a.Rexpr)
	case ast.A_Expr_Kind_AEXPR_OP:
		if _, ok := comparison(name); ok {
			break
		}
		e := Expr{Kind: Arith, Name: name}
		if a.Lexpr == nil {
			e.Args = []Expr{r.expr(a.Rexpr)}
		} else {
			e.Args = []Expr{r.expr(a.Lexpr), r.expr(a.Rexpr)}
		}
		return e
	}
	return Expr{Kind: Compare, Conds: r.comparison(nil, a)}
}

// operator is the last part of an operator's name, OPERATOR(schema.op) included.
func operator(name []*ast.Node) string {
	if len(name) == 0 {
		return ""
	}
	return name[len(name)-1].GetString_().GetSval()
}

func (r *pgReader) subLink(l *ast.SubLink) Expr {
	switch l.SubLinkType {
	case ast.SubLinkType_EXISTS_SUBLINK:
		return Expr{Kind: Exists, Sub: r.subSelect(l)}
	case ast.SubLinkType_ANY_SUBLINK, ast.SubLinkType_ALL_SUBLINK:
		return Expr{Kind: Compare, Conds: []Cond{r.quantified(l)}}
	}
	return Expr{Kind: SubQuery, Sub: r.subSelect(l)}
}

func (r *pgReader) subSelect(l *ast.SubLink) *Query {
	sel := l.Subselect.GetSelectStmt()
	if sel == nil {
		return nil
	}
	return r.nested(r.query(sel))
}

func (r *pgReader) quantified(l *ast.SubLink) Cond {
	c := Cond{Op: "IN", Left: r.expr(l.Testexpr)}
	op := operator(l.OperName)
	if n, ok := comparison(op); ok {
		op = n
	}
	switch {
	case l.SubLinkType == ast.SubLinkType_ALL_SUBLINK:
		c.Op = op + " ALL"
	case op != "" && op != "=":
		c.Op = op + " ANY"
	}
	c.Sub = r.subSelect(l)
	return c
}

func (r *pgReader) caseExpr(c *ast.CaseExpr) Expr {
	e := Expr{Kind: Case}
	subject := r.expr(c.Arg)
	for _, n := range c.Args {
		w := n.GetCaseWhen()
		if c.Arg != nil {
			e.Conds = append(e.Conds, conj(compare(nil, "=", subject, r.expr(w.GetExpr()))))
		} else {
			e.Conds = append(e.Conds, conj(r.conds(nil, w.GetExpr())))
		}
		e.Args = append(e.Args, r.expr(w.GetResult()))
	}
	if c.Defresult != nil {
		e.Args = append(e.Args, r.expr(c.Defresult))
	}
	return e
}

// conds appends a condition as the conditions that are all required.
func (r *pgReader) conds(dst []Cond, node *ast.Node) []Cond {
	switch n := node.GetNode().(type) {
	case nil:
		return dst
	case *ast.Node_BoolExpr:
		return r.boolean(dst, n.BoolExpr)
	case *ast.Node_AExpr:
		return r.comparison(dst, n.AExpr)
	case *ast.Node_NullTest:
		return append(dst, Cond{
			Op:   nullTest(n.NullTest.Nulltesttype == ast.NullTestType_IS_NOT_NULL),
			Left: r.expr(n.NullTest.Arg),
		})
	case *ast.Node_BooleanTest:
		return append(dst, r.boolTest(n.BooleanTest)...)
	case *ast.Node_SubLink:
		if t := n.SubLink.SubLinkType; t == ast.SubLinkType_ANY_SUBLINK || t == ast.SubLinkType_ALL_SUBLINK {
			return append(dst, r.quantified(n.SubLink))
		}
	}
	return truth(dst, r.expr(node))
}

func (r *pgReader) boolean(dst []Cond, b *ast.BoolExpr) []Cond {
	switch b.Boolop {
	case ast.BoolExprType_NOT_EXPR:
		return append(dst, negate(r.conds(nil, b.Args[0]))...)
	case ast.BoolExprType_OR_EXPR:
		arms := make([][]Cond, len(b.Args))
		for i, a := range b.Args {
			arms[i] = r.conds(nil, a)
		}
		return append(dst, disj(arms)...)
	}
	dst = slices.Grow(dst, len(b.Args))
	for _, a := range b.Args {
		dst = r.conds(dst, a)
	}
	return dst
}

func (r *pgReader) boolTest(t *ast.BooleanTest) []Cond {
	cs := r.conds(nil, t.Arg)
	switch t.Booltesttype {
	case ast.BoolTestType_IS_TRUE:
		return isTruth(cs, true, false)
	case ast.BoolTestType_IS_FALSE:
		return isTruth(cs, false, false)
	case ast.BoolTestType_IS_NOT_TRUE:
		return isTruth(cs, true, true)
	case ast.BoolTestType_IS_NOT_FALSE:
		return isTruth(cs, false, true)
	}
	return []Cond{{Op: "BOOL", Left: Expr{Kind: OtherExpr, Args: []Expr{{Kind: Compare, Conds: cs}}}}}
}

// likes are the operators behind LIKE and its kin.
var likes = map[string]string{
	"~~": "LIKE", "!~~": "NOT LIKE", "~~*": "ILIKE", "!~~*": "NOT ILIKE",
}

func (r *pgReader) comparison(dst []Cond, a *ast.A_Expr) []Cond {
	op, compares := comparison(operator(a.Name))
	switch a.Kind {
	case ast.A_Expr_Kind_AEXPR_OP:
		if !compares {
			if a.Lexpr == nil {
				return truth(dst, r.operation(a))
			}
			return r.sides(dst, op, a)
		}
		if r.bind.hole(int(a.Location)) {
			op = "UNKNOWN"
		}
		return byColumn(r.sides(dst, op, a))
	case ast.A_Expr_Kind_AEXPR_DISTINCT:
		return compare(dst, "<>", r.expr(a.Lexpr), r.expr(a.Rexpr))
	case ast.A_Expr_Kind_AEXPR_NOT_DISTINCT:
		return compare(dst, "=", r.expr(a.Lexpr), r.expr(a.Rexpr))
	case ast.A_Expr_Kind_AEXPR_OP_ANY:
		l, v := r.expr(a.Lexpr), r.expr(a.Rexpr)
		if op == "=" && v.Kind == Func && v.Name == "array" {
			return append(dst, Cond{Op: "IN", Left: l, List: v.Args})
		}
		return append(dst, Cond{Op: op + " ANY", Left: l, Right: v})
	case ast.A_Expr_Kind_AEXPR_OP_ALL:
		return append(dst, Cond{Op: op + " ALL", Left: r.expr(a.Lexpr), Right: r.expr(a.Rexpr)})
	case ast.A_Expr_Kind_AEXPR_IN:
		in := Cond{Op: "IN", Left: r.expr(a.Lexpr), List: r.exprs(a.Rexpr.GetList().GetItems())}
		if op == "<>" {
			return append(dst, negateOne(in)...)
		}
		return append(dst, in)
	case ast.A_Expr_Kind_AEXPR_LIKE, ast.A_Expr_Kind_AEXPR_ILIKE, ast.A_Expr_Kind_AEXPR_SIMILAR:
		word := likes[op]
		if a.Kind == ast.A_Expr_Kind_AEXPR_SIMILAR {
			word = "SIMILAR TO"
			if strings.HasPrefix(op, "!") {
				word = "NOT SIMILAR TO"
			}
		}
		return append(dst, Cond{Op: word, Left: r.expr(a.Lexpr), Right: r.pattern(a.Rexpr)})
	case ast.A_Expr_Kind_AEXPR_BETWEEN, ast.A_Expr_Kind_AEXPR_NOT_BETWEEN,
		ast.A_Expr_Kind_AEXPR_BETWEEN_SYM, ast.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		return append(dst, r.between(a)...)
	}
	return truth(dst, r.operation(a))
}

// sides appends the condition that op makes of both sides of a.
func (r *pgReader) sides(dst []Cond, op string, a *ast.A_Expr) []Cond {
	dst, c := another(dst, op)
	r.into(&c.Left, a.Lexpr)
	r.into(&c.Right, a.Rexpr)
	return dst
}

// pattern is the right side of LIKE, out of the call the grammar makes of it.
func (r *pgReader) pattern(n *ast.Node) Expr {
	if f := n.GetFuncCall(); f != nil && len(f.Args) > 0 {
		switch f.Funcname[len(f.Funcname)-1].GetString_().GetSval() {
		case "similar_to_escape", "like_escape":
			return r.exprs(f.Args)[0]
		}
	}
	return r.expr(n)
}

func (r *pgReader) between(a *ast.A_Expr) []Cond {
	x := r.expr(a.Lexpr)
	ends := r.exprs(a.Rexpr.GetList().GetItems())
	if len(ends) != 2 {
		return []Cond{{Op: "UNKNOWN"}}
	}
	switch a.Kind {
	case ast.A_Expr_Kind_AEXPR_BETWEEN:
		return between(x, ends[0], ends[1])
	case ast.A_Expr_Kind_AEXPR_NOT_BETWEEN:
		return negate(between(x, ends[0], ends[1]))
	}
	either := disj([][]Cond{between(x, ends[0], ends[1]), between(x, ends[1], ends[0])})
	if a.Kind == ast.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM {
		return negate(either)
	}
	return either
}

// visit reads every expression below a node no rule above knows, so that no
// function, parameter or sub-select in it is missed.
func (r *pgReader) visit(n proto.Message) []Expr {
	m := n.ProtoReflect()
	var out []Expr
	add := func(v protoreflect.Value) {
		switch c := v.Message().Interface().(type) {
		case *ast.Node:
			if e := r.expr(c); e.Kind != OtherExpr || len(e.Args) > 0 {
				out = append(out, e)
			}
		case *ast.SelectStmt:
			out = append(out, Expr{Kind: SubQuery, Sub: r.nested(r.query(c))})
		default:
			out = append(out, r.visit(c)...)
		}
	}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if f.Message() == nil || !m.Has(f) {
			continue
		}
		if !f.IsList() {
			add(m.Get(f))
			continue
		}
		for l, j := m.Get(f).List(), 0; j < l.Len(); j++ {
			add(l.Get(j))
		}
	}
	return out
}
