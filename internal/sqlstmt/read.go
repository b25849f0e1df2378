package sqlstmt

import (
	"slices"
	"strings"
)

// reader is what the walks over the parsers' trees share: the statement being
// filled, and the names in scope.
type reader struct {
	text   string // as the parser saw it
	bind   binding
	stmt   *Stmt
	misfit string // why the statement is not understood, though its parser took it
	vague  bool   // a value was met that may be something else
	holes  bool   // the text has some; only then are the places kept
	writes []int
	reads  []placed[*Query]
	funcs  []placed[string]
	ctes   []string        // names in scope, innermost last
	temps  map[string]bool // temporary tables made earlier in the script
	subs   *[]*Query       // where a sub-select found now belongs
}

// placed is a value and its byte offset in the text.
type placed[T any] struct {
	at  int
	val T
}

func (r *reader) call(name string, at int) {
	if r.holes && strings.Contains(name, Hole) {
		return // what a hole became, or too little to know it by
	}
	r.funcs = append(r.funcs, placed[string]{at, name})
}

// nested reads a sub-select and files it with whatever is being read.
func (r *reader) nested(q *Query) *Query {
	q.Nested = true
	if r.subs != nil {
		*r.subs = append(*r.subs, q)
	}
	return q
}

// within makes subs the place for sub-selects while f runs.
func (r *reader) within(subs *[]*Query, f func()) {
	outer := r.subs
	r.subs = subs
	f()
	r.subs = outer
}

// track remembers where a query is, for what a hole in it leaves open.
func (r *reader) track(q *Query, at int) {
	if r.holes {
		r.reads = append(r.reads, placed[*Query]{at, q})
	}
}

func (r *reader) isCTE(schema, name string) bool {
	return schema == "" && slices.Contains(r.ctes, name)
}

func (r *reader) isTemp(schema, name string) bool {
	if schema == "" {
		return len(r.temps) > 0 && r.temps[strings.ToLower(name)]
	}
	return strings.EqualFold(schema, "pg_temp") || strings.EqualFold(schema, "temp")
}

func (r *reader) makeTemp(name string) {
	if r.temps == nil {
		r.temps = map[string]bool{}
	}
	r.temps[strings.ToLower(name)] = true
}

// table is a table's name without its alias.
func (r *reader) table(schema, name string) Table {
	return Table{
		Schema: schema, Name: name,
		Dynamic: r.holes && (strings.Contains(schema, Hole) || strings.Contains(name, Hole)),
		Temp:    r.isTemp(schema, name),
	}
}

// source says where the parts of a FROM clause go.
type source struct {
	tables, derived *[]Table
	where           *[]Cond
}

// sides says where the parts of a join go, of which one or both may lack a row.
// The ON of an inner join is a condition. That of an outer join removes no row of
// the other side, and so does one below the side that may lack a row.
func (to source) sides(optionalLeft, optionalRight bool) (left, right source, on *[]Cond) {
	if !optionalLeft && !optionalRight {
		return to, to, to.where
	}
	dropped := source{to.tables, to.derived, new([]Cond)}
	left, right = to, to
	if optionalLeft {
		left = dropped
	}
	if optionalRight {
		right = dropped
	}
	return left, right, dropped.where
}

// write reads a change, which is at the offset at, into the statement.
func (r *reader) write(op Op, at int, read func(*Write)) {
	i := len(r.stmt.Writes)
	r.stmt.Writes = slices.Grow(r.stmt.Writes, 1)[:i+1] // it is zero
	if r.holes {
		r.writes = append(r.writes, at)
	}
	p := &r.stmt.Writes[i]
	p.Op = op
	outer := r.subs
	r.subs = &p.Sub
	read(p)
	r.subs = outer
	if now := &r.stmt.Writes[i]; now != p { // the slice has grown in the meantime
		*now = *p
	}
}

// setting notes a call of set_config, whose first argument is the name.
func (r *reader) setting(args []Expr) {
	if len(args) > 0 && args[0].Kind == Literal {
		r.stmt.Set = append(r.stmt.Set, strings.ToLower(args[0].Text))
		return
	}
	r.stmt.Unknown = append(r.stmt.Unknown, "the name of a setting")
}

// misread is a value of which the parser may have made something else than the
// author meant.
func (r *reader) misread() Expr {
	if !r.vague {
		r.vague = true
		r.stmt.Unknown = append(r.stmt.Unknown, "a value that is no SQL, or another style's placeholder")
	}
	return Expr{Kind: HoleExpr}
}

// param makes e the parameter the parser numbered n.
func (r *reader) param(e *Expr, n int) {
	e.Kind, e.N = Param, n
	i := n - r.bind.first
	if i < 0 || i >= len(r.bind.params) {
		return
	}
	p := &r.bind.params[i]
	e.N, e.Name = p.n, p.name
	if p.open {
		*e = r.misread()
	}
}

// finish moves what was collected into the statement.
func (r *reader) finish() {
	byPlace := func(a, b placed[string]) int { return a.at - b.at }
	if !slices.IsSortedFunc(r.funcs, byPlace) {
		slices.SortStableFunc(r.funcs, byPlace)
	}
	for _, f := range r.funcs {
		if !slices.Contains(r.stmt.Funcs, f.val) {
			r.stmt.Funcs = append(r.stmt.Funcs, f.val)
		}
	}
	for i := range r.stmt.Writes {
		w := &r.stmt.Writes[i]
		w.WhereUnknown = r.vague && w.comparesHole()
	}
}

// column is a reference to a column, or what a hole became.
func column(table, name string) (e Expr) {
	e.column(table, name)
	return e
}

// column makes e one. It and its kin fill in where the value belongs, because
// values are large and most are one of these.
func (e *Expr) column(table, name string) {
	if table == "" && name == Hole {
		e.Kind = HoleExpr
		return
	}
	if len(table) == len("excluded") && strings.EqualFold(table, "excluded") {
		table = "excluded"
	}
	e.Kind, e.Table, e.Name = Column, table, name
}

// literal makes e a constant, unless a hole lies in it.
func (e *Expr) literal(typ, text string) {
	e.Text = text
	if strings.Contains(text, Hole) {
		e.Kind = HoleExpr
		return
	}
	e.Kind, e.Name = Literal, typ
}

// minus negates e if it is a number, and tells whether it was.
func (e *Expr) minus() bool {
	if e.Kind != Literal || e.Name != "number" {
		return false
	}
	if rest, ok := strings.CutPrefix(e.Text, "-"); ok {
		e.Text = rest
		return true
	}
	e.Text = "-" + e.Text
	return true
}

// isWordByte tells whether c may stand within an unquoted identifier.
func isWordByte(c byte) bool { return wordBytes[c] }

var wordBytes = func() (is [256]bool) {
	for c := range is {
		is[c] = c >= 0x80 || c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	return is
}()
