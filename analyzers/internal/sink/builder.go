package sink

// This file turns a builder's chain into a site. What each method adds is a table in
// the file of its builder.

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// A builder is a library that renders SQL from a chain of calls.
type builder struct {
	path string
	// verbs says which statement a type of the package builds; "": the end of the
	// chain tells.
	verbs map[string]string
	// starts are the functions and methods that begin a statement. What they are
	// called on is no statement yet.
	starts map[string]bool
	// steps say what a function or method adds, by "Type.Name" or "Name". One that
	// is in no table may add anything.
	steps map[string]step
	// ends are the methods that send the statement, by "Type.Name" or "Name".
	ends map[string]step
	// inline renders a value that is no parameter: an expression, a sub-select.
	inline func(r *Reader, v ssa.Value) (piece, bool)
	// mutable tells whether a method changes what it is called on, so that its
	// result may be dropped.
	mutable bool
}

// step adds to a query what one call says.
type step func(r *Reader, q *query, c *ssa.CallCommon)

// neutral is a step that changes neither what is written nor which rows.
func neutral(*Reader, *query, *ssa.CallCommon) {}

// vague is a step whose effect is out of sight.
func vague(_ *Reader, q *query, _ *ssa.CallCommon) { q.vague = true }

// builderOf returns the builder that f is a function or method of, or nil.
func builderOf(f *types.Func) *builder {
	if f == nil || f.Pkg() == nil {
		return nil
	}
	switch f.Pkg().Path() {
	case gormPath:
		return &gorm
	case bunPath:
		return &bun
	case squirrelPath:
		return &squirrel
	}
	return nil
}

// lookup finds a function or method of the builder in one of its tables.
func lookup[T any](table map[string]T, f *types.Func) (T, bool) {
	if recv := receiverName(f.Type().(*types.Signature)); recv != "" {
		if t, ok := table[recv+"."+f.Name()]; ok {
			return t, true
		}
	}
	t, ok := table[f.Name()]
	return t, ok
}

// builtSite rebuilds the statement that call, the end of a builder's chain, sends.
func (r *Reader) builtSite(call ssa.CallInstruction) *Site {
	c := call.Common()
	obj := ir.Object(c)
	b := builderOf(obj)
	if b == nil || Receiver(c) == nil {
		return nil
	}
	end, ok := lookup(b.ends, obj)
	if !ok {
		return nil
	}
	if s, ok := r.sites[call]; ok {
		return s
	}
	if r.sites == nil {
		r.sites = map[ssa.CallInstruction]*Site{}
	}
	r.sites[call] = nil // a chain that needs itself is out of sight
	qs := r.ended(b, end, call)
	var s *Site
	if !slices.ContainsFunc(qs, func(q query) bool { return q.verb == "" || q.verb == "SELECT" && q.lock == "" && !r.reads(call) }) {
		s = r.built(call, qs)
	}
	r.sites[call] = s
	return s
}

// ended are the statements that call, the end of a chain, may send.
func (r *Reader) ended(b *builder, end step, call ssa.CallInstruction) []query {
	qs := r.chain(b, Receiver(call.Common()), call)
	for i := range qs {
		end(r, &qs[i], call.Common())
	}
	return qs
}

// Selected rebuilds the SELECT that call, the end of a builder's chain, reads by, or
// returns nil. It need not be a site.
func (r *Reader) Selected(call ssa.CallInstruction) *Site {
	obj := ir.Object(call.Common())
	b := builderOf(obj)
	if b == nil || Receiver(call.Common()) == nil {
		return nil
	}
	end, ok := lookup(b.ends, obj)
	if !ok {
		return nil
	}
	qs := r.ended(b, end, call)
	if len(qs) == 0 || slices.ContainsFunc(qs, func(q query) bool { return q.verb != "SELECT" }) {
		return nil
	}
	return r.built(call, qs)
}

// built judges the statements that can be what a chain renders.
func (r *Reader) built(call ssa.CallInstruction, qs []query) *Site {
	s := &Site{Call: call, Spec: Spec{Store: SQL, Text: -1, Args: -1, Key: -1, Input: -1}, Style: sqlstmt.Question}
	for i := range qs {
		q := &qs[i]
		p := q.text()
		script := r.parseBuilt(p.text)
		if !understood(q, script) {
			bare := q.bare()
			p = bare.text()
			script = r.parseBuilt(p.text)
		}
		s.Texts, s.Scripts = append(s.Texts, p.text), append(s.Scripts, script)
		s.Params = common(s.Params, p.args, i == 0)
		s.Handle = q.handle
		s.Verb = q.verb
	}
	r.judgeSQL(s)
	s.Target = target(qs)
	return s
}

// reads tells whether a SELECT that call sends is a site: gorm and bun read into
// models, which [Spec] does not know.
func (r *Reader) reads(call ssa.CallInstruction) bool {
	_, ok := Find(ir.Object(call.Common()))
	return ok
}

// target names the table that all of some queries write, or read.
func target(qs []query) string {
	name := ""
	for _, q := range qs {
		label := strings.Trim(q.table, `"`)
		if label == "" || strings.Contains(label, sqlstmt.Hole) {
			label = q.label
		}
		if q.verb == "SELECT" || name != "" && name != label {
			return ""
		}
		name = label
	}
	return name
}

// common keeps the parameters that are the same in all alternatives.
func common(have, args []ssa.Value, first bool) []ssa.Value {
	if first {
		return slices.Clone(args)
	}
	for i := range have {
		if i >= len(args) || have[i] != args[i] {
			have[i] = nil
		}
	}
	return have
}

// parseBuilt parses a statement in the dialect of the package, or else in those that
// have what is written here for all of them: ON CONFLICT, INSERT OR REPLACE.
func (r *Reader) parseBuilt(text string) sqlstmt.Script {
	s := r.Parse(text, sqlstmt.Question)
	if s.Err == "" || r.Dialect == sqlstmt.Unknown {
		return s
	}
	for _, d := range []sqlstmt.Dialect{sqlstmt.Postgres, sqlstmt.SQLite} {
		if o := sqlstmt.Parse(text, d, sqlstmt.Options{Placeholders: sqlstmt.Question}); o.Err == "" {
			return o
		}
	}
	return s
}

// understood tells whether a statement was parsed as what it was meant to be.
func understood(q *query, sc sqlstmt.Script) bool {
	if q.verb == "SELECT" {
		return sc.Err == ""
	}
	return slices.ContainsFunc(sc.Stmts, func(st sqlstmt.Stmt) bool { return len(st.Writes) > 0 })
}

// BuiltText returns the texts that a builder's ToSql gives.
func (r *Reader) BuiltText(c *ssa.Call) ([]string, bool) {
	obj := ir.Object(&c.Call)
	if obj == nil || obj.Name() != "ToSql" && obj.Name() != "MustSql" || builderOf(obj) == nil || Receiver(&c.Call) == nil {
		return nil, false
	}
	var out []string
	for _, q := range r.chain(builderOf(obj), Receiver(&c.Call), c) {
		out = append(out, q.text().text)
	}
	return out, len(out) > 0
}
