package sqlstmt

import (
	"fmt"
	"strings"
)

// dump renders a script for the golden files.
func dump(s Script) string {
	var b strings.Builder
	for _, st := range s.Stmts {
		dumpStmt(&b, st)
	}
	if s.Err != "" {
		fmt.Fprintf(&b, "err: %s\n", s.Err)
	}
	return strings.ReplaceAll(b.String(), Hole, testHole)
}

// testHole stands for Hole in the test data.
const testHole = "□"

var opNames = []string{"unknown", "select", "insert", "update", "delete", "merge", "copy", "truncate", "ddl", "other"}

type dumper struct {
	b      *strings.Builder
	indent string
}

func (d dumper) line(format string, args ...any) {
	fmt.Fprintf(d.b, d.indent+format+"\n", args...)
}

func (d dumper) in() dumper { return dumper{d.b, d.indent + "  "} }

func dumpStmt(b *strings.Builder, s Stmt) {
	d := dumper{b, ""}
	d.line("%s", strings.ToUpper(opNames[s.Op]))
	d = d.in()
	for _, q := range s.CTEs {
		d.query("cte "+q.Name, q)
	}
	for _, w := range s.Writes {
		d.write(w)
	}
	if s.Query != nil {
		d.query("query", s.Query)
	}
	d.list("funcs", s.Funcs)
	d.list("settings", s.Set)
	if s.Isolation != "" {
		d.line("isolation: %s", s.Isolation)
	}
	d.list("unknown", s.Unknown)
}

func (d dumper) list(name string, l []string) {
	if len(l) > 0 {
		d.line("%s: %s", name, strings.Join(l, ", "))
	}
}

func (d dumper) write(w Write) {
	var flags string
	for _, f := range []struct {
		on   bool
		name string
	}{
		{w.InCTE, "in cte " + w.Name}, {w.Only, "only"}, {w.Replace, "or replace"}, {w.Ignore, "or ignore"},
		{w.CurrentOf, "current of"}, {w.Matched, "matched"}, {w.WhereUnknown, "where unknown"},
	} {
		if f.on {
			flags += " [" + f.name + "]"
		}
	}
	d.line("%s %s%s", opNames[w.Op], table(w.Table), flags)
	d = d.in()
	d.tables("from", w.From)
	d.tables("derived", w.Derived)
	d.assigns(w.Set)
	d.list("columns", w.Columns)
	for _, row := range w.Values {
		d.line("values (%s)", exprs(row))
	}
	if w.Source != nil {
		d.query("source", w.Source)
	}
	d.conds("where", w.Where)
	for c := w.Conflict; c != nil; c = c.Next {
		do := "do update"
		if c.DoNothing {
			do = "do nothing"
		}
		d.line("on conflict (%s) %s", strings.Join(c.Target, ", "), do)
		d.in().assigns(c.Set)
		d.in().conds("where", c.Where)
	}
	if len(w.Returning) > 0 {
		d.line("returning %s", exprs(w.Returning))
	}
	for _, q := range w.Sub {
		d.query("sub", q)
	}
}

func (d dumper) assigns(set []Assign) {
	for _, a := range set {
		d.line("set %s = %s", a.Column, expr(a.Value))
	}
}

func (d dumper) conds(name string, cs []Cond) {
	for _, c := range cs {
		d.line("%s %s", name, cond(c))
	}
}

func (d dumper) tables(name string, ts []Table) {
	for _, t := range ts {
		d.line("%s %s", name, table(t))
	}
}

var lockNames = []string{"", "for key share", "for share", "for no key update", "for update"}

func (d dumper) query(name string, q *Query) {
	var flags string
	if q.Lock != NoLock {
		flags += " [" + lockNames[q.Lock]
		if len(q.LockOf) > 0 {
			flags += " of " + strings.Join(q.LockOf, ", ")
		}
		flags += "]"
	}
	if q.SkipLocked {
		flags += " [skip locked]"
	}
	if q.Nested {
		flags += " [nested]"
	}
	if q.Unknown {
		flags += " [unknown]"
	}
	d.line("%s%s", name, flags)
	d = d.in()
	if len(q.Output) > 0 {
		d.line("output %s", exprs(q.Output))
	}
	d.tables("from", q.From)
	d.tables("derived", q.Derived)
	d.conds("where", q.Where)
	for _, s := range q.Sub {
		d.query("sub", s)
	}
}

func table(t Table) string {
	s := t.Name
	if t.Schema != "" {
		s = t.Schema + "." + s
	}
	if t.Alias != "" {
		s += " as " + t.Alias
	}
	if t.Dynamic {
		s += " [dynamic]"
	}
	if t.Temp {
		s += " [temp]"
	}
	return strings.TrimSpace(s)
}

func exprs(es []Expr) string {
	parts := make([]string, len(es))
	for i, e := range es {
		parts[i] = expr(e)
		if e.Alias != "" {
			parts[i] += " as " + e.Alias
		}
	}
	return strings.Join(parts, ", ")
}

func expr(e Expr) string {
	prefix := ""
	if e.Table != "" {
		prefix = e.Table + "."
	}
	switch e.Kind {
	case Column:
		return prefix + e.Name
	case Star:
		return prefix + "*"
	case Param:
		s := fmt.Sprintf("param %d", e.N)
		if e.Name != "" {
			s += ":" + e.Name
		}
		return "<" + s + ">"
	case Literal:
		if e.Name == "string" {
			return "'" + e.Text + "'"
		}
		return e.Text
	case Func:
		return e.Name + "(" + exprs(e.Args) + ")"
	case Arith:
		if len(e.Args) == 1 {
			return "(" + e.Name + " " + expr(e.Args[0]) + ")"
		}
		return "(" + expr(e.Args[0]) + " " + e.Name + " " + expr(e.Args[1]) + ")"
	case Case:
		s := "case"
		for i, c := range e.Conds {
			s += " when " + cond(c) + " then " + expr(e.Args[i])
		}
		if len(e.Args) > len(e.Conds) {
			s += " else " + expr(e.Args[len(e.Conds)])
		}
		return s + " end"
	case SubQuery:
		return "(subselect" + outputs(e.Sub) + ")"
	case Exists:
		return "exists(subselect)"
	case HoleExpr:
		return "<hole" + e.Text + ">"
	case Compare:
		return "{" + condList(e.Conds, " and ") + "}"
	}
	return "other" + e.Name + "(" + exprs(e.Args) + ")"
}

func outputs(q *Query) string {
	if q == nil {
		return ""
	}
	return " " + exprs(q.Output)
}

func condList(cs []Cond, sep string) string {
	parts := make([]string, len(cs))
	for i, c := range cs {
		parts[i] = cond(c)
	}
	return strings.Join(parts, sep)
}

func cond(c Cond) string {
	switch c.Op {
	case "OR":
		return "(" + condList(c.Any, " OR ") + ")"
	case "AND":
		return "(" + condList(c.All, " AND ") + ")"
	case "NOT":
		return "NOT (" + condList(c.Any, " ") + ")"
	case "IS NULL", "IS NOT NULL":
		return expr(c.Left) + " " + c.Op
	case "EXISTS", "NOT EXISTS":
		return c.Op + " (subselect" + outputs(c.Sub) + ")"
	case "BOOL":
		return "BOOL " + expr(c.Left)
	}
	if c.Sub != nil {
		return expr(c.Left) + " " + c.Op + " (subselect" + outputs(c.Sub) + ")"
	}
	if c.Op == "IN" {
		return expr(c.Left) + " IN (" + exprs(c.List) + ")"
	}
	if c.Op == "UNKNOWN" && c.Left.Kind == HoleExpr && c.Right.Kind == OtherExpr {
		return "UNKNOWN"
	}
	return expr(c.Left) + " " + c.Op + " " + expr(c.Right)
}
