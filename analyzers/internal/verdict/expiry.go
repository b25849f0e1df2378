package verdict

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/authority"
	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/lease"
	"github.com/fencelint/fence/analyzers/internal/origin"
	"github.com/fencelint/fence/analyzers/internal/record"
	"github.com/fencelint/fence/analyzers/internal/sink"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// expiries finds the comparisons of this process's clock with an ownership
// expiry that another process wrote, in Go and in SQL, and of ownership
// deadlines that lost their monotonic reading.
func (j *judge) expiries() {
	for _, fn := range j.Pkg.Funcs {
		if testHelper(fn) || watches(fn) {
			continue
		}
		for _, b := range fn.Blocks {
			for _, in := range b.Instrs {
				switch in := in.(type) {
				case *ssa.Call:
					j.timeCall(in)
					j.boundTimes(in)
				case *ssa.BinOp:
					switch in.Op {
					case token.LSS, token.GTR, token.LEQ, token.GEQ:
						if isInt(in.X.Type()) && !isDuration(in.X.Type()) {
							j.comparison(in, in.X, in.Y, false)
						}
					}
				case *ssa.MapUpdate:
					j.builderBound(in)
				}
			}
		}
	}
}

// watchWords start or end the names of functions that only tell people how
// things are.
var watchWords = lease.Set{"stats": true, "stat": true, "metrics": true, "metric": true, "status": true, "statistics": true,
	"report": true, "gauge": true, "dashboard": true, "debug": true, "string": true, "describe": true}

// watches tells whether a function, by its name, decides nothing.
func watches(fn *ssa.Function) bool {
	return watchWords.Has(ir.Top(fn).Name()) && !lease.Ownership.Has(ir.Top(fn).Name())
}

func isInt(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&(types.IsInteger|types.IsFloat) != 0
}

func isDuration(t types.Type) bool { return ir.IsNamed(t, "time", "Duration") }

// timeCall looks at the comparing methods of time.Time and at ages.
func (j *judge) timeCall(c *ssa.Call) {
	obj := ir.Object(&c.Call)
	if obj == nil || obj.Pkg() == nil {
		return
	}
	recv := obj.Type().(*types.Signature).Recv()
	if obj.Pkg().Path() != "time" {
		if recv != nil && obj.Pkg().Path() == "k8s.io/apimachinery/pkg/apis/meta/v1" && (obj.Name() == "Before") && len(c.Call.Args) == 2 {
			j.comparison(c, c.Call.Args[0], c.Call.Args[1], false)
		}
		return
	}
	switch {
	case recv == nil && (obj.Name() == "Since" || obj.Name() == "Until"):
		if decides(c, 0) || obj.Name() == "Until" && returned(c) {
			j.comparison(c, nil, c.Call.Args[0], false)
		}
	case recv == nil || len(c.Call.Args) != 2:
	case obj.Name() == "After" || obj.Name() == "Before" || obj.Name() == "Compare":
		j.comparison(c, c.Call.Args[0], c.Call.Args[1], false)
	case obj.Name() == "Sub" && decides(c, 0):
		j.comparison(c, c.Call.Args[0], c.Call.Args[1], true)
	}
}

// decides tells whether a duration is compared, so that something depends on it.
func decides(v ssa.Value, depth int) bool {
	if v.Referrers() == nil || depth > 5 {
		return false
	}
	for _, in := range *v.Referrers() {
		switch in := in.(type) {
		case *ssa.BinOp:
			switch in.Op {
			case token.LSS, token.GTR, token.LEQ, token.GEQ:
				return true
			}
			if decides(in, depth+1) {
				return true
			}
		case *ssa.Convert:
			if decides(in, depth+1) {
				return true
			}
		case *ssa.Phi:
			if decides(in, depth+1) {
				return true
			}
		case *ssa.Call:
			if obj := ir.Object(&in.Call); obj != nil && obj.Pkg() != nil && obj.Pkg().Path() == "time" && decides(in, depth+1) {
				return true
			}
		}
	}
	return false
}

func returned(v ssa.Value) bool {
	for _, in := range *v.Referrers() {
		if _, ok := in.(*ssa.Return); ok {
			return true
		}
	}
	return false
}

// comparison judges x against y; a nil x is this process's clock.
func (j *judge) comparison(at ssa.Instruction, x, y ssa.Value, _ bool) {
	if j.expiry(at, y, x) {
		return
	}
	if x != nil {
		j.expiry(at, x, y)
	}
}

// expiry reports if stored is an ownership expiry of another process and now is
// this process's clock (nil: it is).
func (j *judge) expiry(at ssa.Instruction, stored, now ssa.Value) bool {
	if now != nil {
		if len(j.Record.Of(now)) > 0 || !j.Clock.Of(now).Now {
			return false
		}
	}
	for _, d := range j.Record.Of(stored) {
		if why, ok := j.owns(d, at, stored); ok {
			j.reportExpiry(at, d, why)
			return true
		}
	}
	return j.stripped(at, stored)
}

// owns tells whether a stored time decides who owns a piece of work.
func (j *judge) owns(d record.Datum, at ssa.Instruction, v ssa.Value) (why string, ok bool) {
	if d.Request {
		return "", false
	}
	if d.Field != nil && j.Policy.ExpiryField(d.Struct, d.Field) {
		return "fence.yaml names it as an expiry of ownership", true
	}
	if j.Policy.ExpiryColumn(d.Table, d.Column) {
		return "it is declared as an expiry of ownership", true
	}
	own, carrier := d.Own(), d.Carrier()
	strong := strongWords.Has(own...) || strongWords.Has(carrier...)
	foreign := lease.Foreign.Has(own...) || lease.Foreign.Has(carrier...)
	if foreign && !strong {
		return "", false
	}
	switch {
	case strongWords.Has(own...) || lease.Ownership.Has(own...):
		return "by its name it ends a lease, lock or leadership", true
	case lease.Ownership.Has(carrier...):
		return "it belongs to a lock or lease", true
	case d.Struct != nil && authority.HasHolder(d.Struct) && lease.Expiry.Has(own...):
		return "its record also names an owner", true
	case j.tableHasHolder(d.Table) && lease.Expiry.Has(own...):
		return "its row also names an owner", true
	case j.swapsKey(d, at):
		return "what it decides is who takes the key", true
	}
	return "", false
}

// strongWords say lease or leadership and nothing else.
var strongWords = lease.Set{"lease": true, "leases": true, "leased": true, "leader": true, "leadership": true, "election": true, "elected": true, "elector": true}

func (j *judge) tableHasHolder(name string) bool {
	if j.Policy == nil || j.Policy.Schema == nil || name == "" {
		return false
	}
	t := j.Policy.Schema.Table("", name)
	if t == nil {
		return false
	}
	for _, c := range t.Columns {
		if lease.IsHolderName(c.Name) && !strings.HasSuffix(c.Type, "int") {
			return true
		}
	}
	return false
}

// swapsKey: the value was read from a key that this function also takes with SET
// NX, or was itself read by swapping.
func (j *judge) swapsKey(d record.Datum, at ssa.Instruction) bool {
	if d.KeyValue == nil || d.Spec.Store != sink.Redis {
		return false
	}
	for _, b := range at.Parent().Blocks {
		for _, in := range b.Instrs {
			c, ok := in.(*ssa.Call)
			if !ok {
				continue
			}
			s, ok := j.Sink.Spec(&c.Call)
			if ok && s.Op == sink.Claim && sink.Arg(&c.Call, s.Key) == d.KeyValue {
				return true
			}
		}
	}
	return false
}

func (j *judge) reportExpiry(at ssa.Instruction, d record.Datum, why string) {
	j.out = append(j.out, Verdict{
		Check: WallClockExpiry, Pos: at.Pos(), Resource: d.String(),
		Message: fmt.Sprintf("%s was written by another process's clock and is compared with this one's (%s): with clocks apart by more than the margin, this process takes over while the owner still writes, or goes on after a successor was granted; let the store compare with its own clock, or count from when this process saw it change",
			d, why),
		Related: related(d),
	})
}

func related(d record.Datum) []Related {
	if d.Read != nil && d.Read.Pos().IsValid() {
		return []Related{{d.Read.Pos(), "it is read here"}}
	}
	if d.Field != nil && d.Field.Pos().IsValid() {
		return []Related{{d.Field.Pos(), "it is stored as this field"}}
	}
	return nil
}

// stripped reports an ownership deadline of this process that lost its monotonic
// reading before it was kept.
func (j *judge) stripped(at ssa.Instruction, v ssa.Value) bool {
	f, n := fieldOf(v)
	if f == nil || n == nil {
		return false
	}
	declared := j.Policy.ExpiryField(n, f)
	if !declared && (!lease.Ownership.Has(f.Name(), n.Obj().Name()) || lease.Foreign.Has(f.Name(), n.Obj().Name()) && !strongWords.Has(f.Name(), n.Obj().Name())) {
		return false
	}
	stores := j.Pkg.Stores(f)
	if len(stores) == 0 || len(j.Pkg.Outs(f)) > 0 {
		return false
	}
	var where token.Pos
	for _, s := range stores {
		if c, ok := s.Store.Val.(*ssa.Const); ok && c.Value == nil {
			continue
		}
		t := j.Clock.Of(s.Store.Val)
		if !t.Now {
			return false
		}
		if t.Stripped && isTime(s.Store.Val.Type()) {
			where = t.StripAt
		}
	}
	if !where.IsValid() {
		return false
	}
	j.out = append(j.out, Verdict{
		Check: WallClockExpiry, Pos: at.Pos(), Resource: n.Obj().Name() + "." + f.Name(),
		Message: fmt.Sprintf("%s.%s lost its monotonic reading at %s, so this compares wall clocks: a step of the clock moves the deadline, and this process goes on after a successor was granted; keep the time.Time that time.Now returned (no UTC, In, Round, Truncate or encoding)",
			n.Obj().Name(), f.Name(), j.line(where)),
		Related: []Related{{where, "the monotonic reading is dropped here"}},
	})
	return true
}

func isTime(t types.Type) bool { return ir.IsNamed(t, "time", "Time") }

// fieldOf returns the field that v reads, through additions.
func fieldOf(v ssa.Value) (*types.Var, *types.Named) {
	for range 8 {
		switch x := v.(type) {
		case *ssa.UnOp:
			v = x.X
		case *ssa.FieldAddr:
			return ir.FieldOf(x.X.Type(), x.Field), ir.NamedOf(x.X.Type())
		case *ssa.Field:
			return ir.FieldOf(x.X.Type(), x.Field), ir.NamedOf(x.X.Type())
		case *ssa.Call:
			obj := ir.Object(&x.Call)
			if obj == nil || obj.Pkg() == nil || obj.Pkg().Path() != "time" || len(x.Call.Args) == 0 {
				return nil, nil
			}
			v = x.Call.Args[0]
		default:
			return nil, nil
		}
	}
	return nil, nil
}

// boundTimes looks at a call of a store for a time of this process that is
// bound to a comparison with an ownership expiry.
func (j *judge) boundTimes(c *ssa.Call) {
	if j.queryBuilder(c) {
		return
	}
	spec, ok := j.Sink.Spec(&c.Call)
	if !ok || spec.Store != sink.SQL || spec.Text < 0 {
		return
	}
	site := j.Sink.Site(c)
	if site == nil {
		return
	}
	for _, sc := range site.Scripts {
		for _, st := range sc.Stmts {
			for _, t := range conditions(st) {
				j.boundCond(c, site, t)
			}
		}
	}
}

// tabled is a condition with the tables its columns may belong to.
type tabled struct {
	cond sqlstmt.Cond
	from []sqlstmt.Table
}

// conditions returns every condition of a statement.
func conditions(st sqlstmt.Stmt) []tabled {
	var out []tabled
	var add func(cs []sqlstmt.Cond, from []sqlstmt.Table)
	var query func(q *sqlstmt.Query)
	query = func(q *sqlstmt.Query) {
		if q == nil {
			return
		}
		add(q.Where, q.From)
		for _, s := range q.Sub {
			query(s)
		}
	}
	add = func(cs []sqlstmt.Cond, from []sqlstmt.Table) {
		for _, c := range cs {
			out = append(out, tabled{c, from})
			add(c.Any, from)
			add(c.All, from)
			query(c.Sub)
			for _, e := range []sqlstmt.Expr{c.Left, c.Right} {
				query(e.Sub)
			}
		}
	}
	query(st.Query)
	for _, q := range st.CTEs {
		query(q)
	}
	for _, w := range st.Writes {
		from := append([]sqlstmt.Table{w.Table}, w.From...)
		add(w.Where, from)
		query(w.Source)
		if w.Conflict != nil {
			add(w.Conflict.Where, from)
		}
	}
	return out
}

// boundCond reports if the condition compares an expiry column with a parameter
// bound to this process's time.
func (j *judge) boundCond(c *ssa.Call, site *sink.Site, t tabled) {
	switch t.cond.Op {
	case "<", "<=", ">", ">=":
	default:
		return
	}
	for _, pair := range [][2]sqlstmt.Expr{{t.cond.Left, t.cond.Right}, {t.cond.Right, t.cond.Left}} {
		col, ok := column(pair[0])
		if !ok {
			continue
		}
		table := tableOf(t.from, col.Table)
		if !j.ownsColumn(table, col.Name) {
			continue
		}
		pair[1].Walk(func(e sqlstmt.Expr) {
			if e.Kind != sqlstmt.Param {
				return
			}
			v := j.Authority.Bound(site, e)
			if v != nil && j.Clock.Of(v).Now && len(j.Record.Of(v)) == 0 {
				j.reportBound(c.Pos(), join(table, col.Name), v)
			}
		})
	}
}

// column returns the column an expression is about: itself, or in arithmetic or
// COALESCE.
func column(e sqlstmt.Expr) (sqlstmt.Expr, bool) {
	var out sqlstmt.Expr
	found := false
	e.Walk(func(e sqlstmt.Expr) {
		if e.Kind == sqlstmt.Column && !found {
			out, found = e, true
		}
	})
	return out, found
}

func tableOf(from []sqlstmt.Table, alias string) string {
	for _, t := range from {
		if alias != "" && (strings.EqualFold(t.Alias, alias) || strings.EqualFold(t.Name, alias)) {
			return strings.ReplaceAll(t.Name, sqlstmt.Hole, "")
		}
	}
	if alias == "" && len(from) > 0 {
		return strings.ReplaceAll(from[0].Name, sqlstmt.Hole, "")
	}
	return ""
}

func join(table, column string) string {
	if table == "" {
		return column
	}
	return table + "." + column
}

// ownsColumn is owns for a column.
func (j *judge) ownsColumn(table, col string) bool {
	if j.Policy.ExpiryColumn(table, col) {
		return true
	}
	if lease.Foreign.Has(col) || lease.Foreign.Has(table) && !strongWords.Has(col) {
		return false
	}
	return lease.Ownership.Has(col) || lease.Ownership.Has(table) || j.tableHasHolder(table) && lease.Expiry.Has(col)
}

func (j *judge) reportBound(pos token.Pos, what string, v ssa.Value) {
	j.out = append(j.out, Verdict{
		Check: WallClockExpiry, Pos: pos, Resource: what,
		Message: fmt.Sprintf("%s was written by other processes and is compared with this process's clock, bound as a parameter: a clock that runs ahead expires an owner that is alive, which then writes beside its successor; compare with the store's own clock (now()) instead",
			what),
		Related: timeOf(v),
	})
}

func timeOf(v ssa.Value) []Related {
	if v.Pos().IsValid() {
		return []Related{{v.Pos(), "this process's time comes from here"}}
	}
	return nil
}

// whereMethods are builder methods that take a condition as text and its values.
var whereMethods = map[string]map[string]bool{
	"gorm.io/gorm":                    {"Where": true, "Or": true, "Not": true, "Having": true},
	"github.com/Masterminds/squirrel": {"Where": true, "Expr": true, "Having": true},
	"github.com/uptrace/bun":          {"Where": true, "WhereOr": true, "Having": true},
}

// queryBuilder looks at a builder's condition given as text.
func (j *judge) queryBuilder(c *ssa.Call) bool {
	obj := ir.Object(&c.Call)
	if obj == nil || obj.Pkg() == nil || !whereMethods[obj.Pkg().Path()][obj.Name()] {
		return false
	}
	text, list := sink.Arg(&c.Call, 0), sink.Arg(&c.Call, 1)
	if text == nil || list == nil {
		return true
	}
	args, ok := origin.Variadic(j.Pkg, list)
	if !ok {
		return true
	}
	for _, s := range j.Text.Texts(text) {
		sc := j.Sink.Parse("SELECT 1 FROM fence_builder WHERE "+s, sqlstmt.Question)
		for _, st := range sc.Stmts {
			for _, t := range conditions(st) {
				for _, pair := range [][2]sqlstmt.Expr{{t.cond.Left, t.cond.Right}, {t.cond.Right, t.cond.Left}} {
					col, ok := column(pair[0])
					if !ok || !ordered(t.cond.Op) {
						continue
					}
					pair[1].Walk(func(e sqlstmt.Expr) {
						if e.Kind != sqlstmt.Param || e.N < 1 || e.N > len(args) {
							return
						}
						v := args[e.N-1]
						table, ok := j.builderColumn(c.Parent(), col)
						if ok && j.Clock.Of(v).Now && len(j.Record.Of(v)) == 0 {
							j.reportBound(c.Pos(), join(table, col.Name), v)
						}
					})
				}
			}
		}
	}
	return true
}

func ordered(op string) bool { return op == "<" || op == "<=" || op == ">" || op == ">=" }

// builderMaps are map types that stand for ordered comparisons.
var builderMaps = map[string]bool{"Lt": true, "LtOrEq": true, "Gt": true, "GtOrEq": true}

// builderBound looks at squirrel's Lt{"column": value} and its like.
func (j *judge) builderBound(m *ssa.MapUpdate) {
	n := ir.NamedOf(m.Map.Type())
	if n == nil || n.Obj().Pkg() == nil || n.Obj().Pkg().Path() != "github.com/Masterminds/squirrel" || !builderMaps[n.Obj().Name()] {
		return
	}
	k, ok := m.Key.(*ssa.Const)
	if !ok || k.Value == nil || k.Value.Kind() != constant.String {
		return
	}
	alias, col, qualified := strings.Cut(constant.StringVal(k.Value), ".")
	if !qualified {
		alias, col = "", alias
	}
	table, ok := j.builderColumn(m.Parent(), sqlstmt.Expr{Kind: sqlstmt.Column, Table: alias, Name: col})
	if ok && j.Clock.Of(m.Value).Now && len(j.Record.Of(m.Value)) == 0 {
		pos := m.Pos()
		if !pos.IsValid() {
			pos = m.Map.Pos()
		}
		j.reportBound(pos, join(table, col), m.Value)
	}
}

// builderColumn tells whether a column of a statement built in fn decides
// ownership, and the table it belongs to. The tables are read from the constant
// arguments of the builder's calls in fn ("table" or "table alias", also the
// start of a JOIN clause) and from gorm's models.
func (j *judge) builderColumn(fn *ssa.Function, col sqlstmt.Expr) (string, bool) {
	var tables []sqlstmt.Table
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			c, ok := in.(*ssa.Call)
			if !ok {
				continue
			}
			obj := ir.Object(&c.Call)
			if obj == nil || obj.Pkg() == nil || whereMethods[obj.Pkg().Path()] == nil {
				continue
			}
			if !tableMethods[obj.Name()] {
				continue
			}
			a := sink.Arg(&c.Call, 0)
			if a == nil {
				continue
			}
			if obj.Name() == "Model" || !isStringType(a.Type()) {
				if mi, ok := a.(*ssa.MakeInterface); ok {
					if n := ir.NamedOf(mi.X.Type()); n != nil {
						tables = append(tables, sqlstmt.Table{Name: strings.Join(lease.Words(n.Obj().Name()), "_")})
					}
				}
				continue
			}
			for _, t := range j.Text.Texts(a) {
				w := strings.Fields(strings.ReplaceAll(t, sqlstmt.Hole, ""))
				if len(w) == 0 {
					continue
				}
				tab := sqlstmt.Table{Name: w[0]}
				if len(w) > 1 && !strings.EqualFold(w[1], "ON") {
					tab.Alias = w[1]
					if strings.EqualFold(w[1], "AS") && len(w) > 2 {
						tab.Alias = w[2]
					}
				}
				tables = append(tables, tab)
			}
		}
	}
	for _, t := range tables {
		if col.Table != "" && !strings.EqualFold(col.Table, t.Alias) && !strings.EqualFold(col.Table, t.Name) {
			continue
		}
		if j.ownsColumn(t.Name, col.Name) {
			return t.Name, true
		}
	}
	return "", col.Table == "" && j.ownsColumn("", col.Name) && (lease.Ownership.Has(col.Name))
}

var tableMethods = map[string]bool{
	"From": true, "Join": true, "LeftJoin": true, "InnerJoin": true, "Update": true, "Delete": true, "Insert": true,
	"Table": true, "Model": true, "JoinClause": true,
}

func isStringType(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Kind() == types.String
}
