package sink

// This file follows a builder's chain back to its start: through variables, branches,
// functions that take a chain and return one, and closures that are handed one.

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/origin"
)

// The bounds of one chain.
const (
	maxAlternatives = 16
	maxChainWork    = 1000
)

// chain returns the queries that v, used by instruction use, can be: one for each
// set of steps that a way through the code takes. There is at least one.
func (r *Reader) chain(b *builder, v ssa.Value, use ssa.Instruction) []query {
	e := &chain{r: r, b: b, busy: map[link]bool{}}
	qs := e.eval(v, use, nil)
	if len(qs) == 0 {
		qs = []query{{vague: true}}
	}
	return qs
}

type chain struct {
	r    *Reader
	b    *builder
	busy map[link]bool
	work int
}

type link struct {
	v  ssa.Value
	fr *entry
}

// entry is a function that the walk has gone into: by a call, or because a step
// runs it on the queries given.
type entry struct {
	fn    *ssa.Function
	call  ssa.CallInstruction
	given []query
	up    *entry
}

// eval returns the queries v can be; none if v needs itself.
func (e *chain) eval(v ssa.Value, use ssa.Instruction, fr *entry) []query {
	e.work++
	if e.work > maxChainWork {
		return []query{{vague: true}}
	}
	at := link{v, fr}
	if e.busy[at] {
		return nil
	}
	e.busy[at] = true
	defer delete(e.busy, at)
	qs := e.expand(v, use, fr)
	if verb := e.b.verbs[typeName(v.Type())]; verb != "" {
		for i := range qs {
			qs[i].verb = verb
		}
	}
	return e.changed(v, use, qs, fr)
}

func (e *chain) expand(v ssa.Value, use ssa.Instruction, fr *entry) []query {
	switch v := v.(type) {
	case *ssa.Call:
		return e.call(v, 0, fr)
	case *ssa.Extract:
		if c, ok := v.Tuple.(*ssa.Call); ok {
			return e.call(c, v.Index, fr)
		}
	case *ssa.Phi:
		return e.phi(v, fr)
	case *ssa.MakeInterface:
		return e.eval(v.X, use, fr)
	case *ssa.ChangeInterface:
		return e.eval(v.X, use, fr)
	case *ssa.ChangeType:
		return e.eval(v.X, use, fr)
	case *ssa.TypeAssert:
		return e.eval(v.X, use, fr)
	case *ssa.UnOp:
		return e.load(v, fr)
	case *ssa.Parameter:
		return e.param(v, fr)
	}
	return e.root(v)
}

// root is the start of a chain, as far as it is in sight: a database for sure, or
// a query that somebody else has begun.
func (e *chain) root(v ssa.Value) []query {
	return []query{{handle: v, vague: e.begun(v.Type())}}
}

// begun tells whether a value of the type is a statement under construction.
func (e *chain) begun(t types.Type) bool {
	if n := ir.NamedOf(t); n != nil && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == e.b.path {
		return e.b.verbs[n.Obj().Name()] != ""
	}
	return false
}

// phi: each way leads to queries of its own. What a loop adds is not sure.
func (e *chain) phi(v *ssa.Phi, fr *entry) []query {
	var out []query
	looped := false
	for _, x := range v.Edges {
		qs := e.eval(x, v, fr)
		looped = looped || len(qs) == 0
		out = append(out, qs...)
	}
	if looped {
		for i := range out {
			out[i].vague = true
		}
	}
	return distinct(out)
}

// distinct drops queries that say the same. Too many become one whose conditions
// are out of sight.
func distinct(qs []query) []query {
	seen := map[string]bool{}
	var out []query
	for _, q := range qs {
		if k := q.key(); !seen[k] {
			seen[k] = true
			out = append(out, q)
		}
	}
	if len(out) <= maxAlternatives {
		return out
	}
	q := out[0].copy()
	q.vague, q.where = true, nil
	for _, o := range out {
		if o.table != q.table {
			q.table = ""
		}
	}
	return []query{q}
}

// key tells queries apart by what they render, whatever they are run on.
func (q *query) key() string {
	k := *q
	k.handle = nil
	var b strings.Builder
	for _, verb := range []string{"UPDATE", "INSERT", "SELECT"} {
		k.verb = verb
		p := k.text()
		b.WriteString(p.text)
		for _, a := range p.args {
			fmt.Fprintf(&b, " %p", a)
		}
	}
	return b.String()
}

// call follows the call that made a query.
func (e *chain) call(c *ssa.Call, i int, fr *entry) []query {
	obj := ir.Object(&c.Call)
	if obj == nil {
		return e.foreign(c, fr, true)
	}
	if obj.Pkg() != nil && obj.Pkg().Path() == e.b.path {
		return e.method(c, obj, fr)
	}
	if callee := ir.Callee(&c.Call); callee != nil && callee.Pkg == e.r.Pkg.SSA && callee.Blocks != nil {
		return e.results(callee, i, &entry{fn: callee, call: c, up: fr})
	}
	if e.b.starts[obj.Name()] { // an interface of the program's own
		return []query{{handle: Receiver(&c.Call)}}
	}
	return e.foreign(c, fr, false)
}

// method follows a function or method of the builder.
func (e *chain) method(c *ssa.Call, obj *types.Func, fr *entry) []query {
	recv := Receiver(&c.Call)
	var qs []query
	switch {
	case recv == nil && obj.Type().(*types.Signature).Recv() != nil: // a method value
		return []query{{vague: true}}
	case e.b.starts[obj.Name()] && recv != nil && !e.carries(recv.Type()):
		qs = []query{{handle: recv}}
	case recv != nil:
		qs = e.eval(recv, c, fr)
	case len(c.Call.Args) > 0 && e.carries(c.Call.Args[0].Type()):
		qs = e.eval(c.Call.Args[0], c, fr)
	default:
		qs = []query{{}}
	}
	return e.apply(qs, c, obj, fr)
}

// apply adds to each query what a call says.
func (e *chain) apply(qs []query, c *ssa.Call, obj *types.Func, fr *entry) []query {
	if rn, ok := lookup(runners, obj); ok {
		return e.run(qs, &c.Call, rn, fr)
	}
	st, ok := lookup(e.b.steps, obj)
	if !ok {
		st = vague
	}
	out := make([]query, len(qs))
	for i := range qs {
		out[i] = qs[i].copy()
		st(e.r, &out[i], &c.Call)
	}
	return out
}

// carries tells whether a value of the type can hold a chain.
func (e *chain) carries(t types.Type) bool {
	n := ir.NamedOf(t)
	if n == nil || n.Obj().Pkg() == nil || n.Obj().Pkg().Path() != e.b.path {
		return false
	}
	_, ok := e.b.verbs[n.Obj().Name()]
	return ok
}

// foreign is a call of a function that is not in sight. A chain that goes through
// it may have got anything.
func (e *chain) foreign(c *ssa.Call, fr *entry, dynamic bool) []query {
	for _, a := range c.Call.Args {
		if !e.carries(a.Type()) {
			continue
		}
		qs := e.eval(a, c, fr)
		for i := range qs {
			qs[i].vague = true
		}
		return qs
	}
	qs := e.root(c)
	qs[0].vague = qs[0].vague || dynamic
	return qs
}

// results follows what a function returns.
func (e *chain) results(fn *ssa.Function, i int, in *entry) []query {
	for f := in.up; f != nil; f = f.up {
		if f.fn == fn {
			return nil
		}
	}
	var out []query
	for _, b := range fn.Blocks {
		if ret := returned(b); ret != nil && i < len(ret.Results) {
			if c, isConst := ret.Results[i].(*ssa.Const); isConst && c.Value == nil {
				continue // "return nil, err"
			}
			out = append(out, e.eval(ret.Results[i], ret, in)...)
		}
	}
	return distinct(out)
}

// returned returns the return that ends a block, or nil.
func returned(b *ssa.BasicBlock) *ssa.Return {
	if len(b.Instrs) == 0 {
		return nil
	}
	ret, _ := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
	return ret
}

// param goes to the argument of the call that the walk came through, or else of
// every caller in the package.
func (e *chain) param(p *ssa.Parameter, fr *entry) []query {
	fn := p.Parent()
	i := slices.Index(fn.Params, p)
	if fr != nil && fr.fn == ir.Origin(fn) {
		if fr.given != nil {
			return fr.given
		}
		if a := origin.Arg(fr.call.Common(), i); a != nil {
			return e.eval(a, fr.call, fr.up)
		}
		return e.root(p)
	}
	calls := e.r.Pkg.Callers(fn)
	if len(calls) == 0 || len(calls) > origin.MaxCallers {
		return e.root(p)
	}
	var out []query
	for _, c := range calls {
		if a := origin.Arg(c.Common(), i); a != nil {
			out = append(out, e.eval(a, c, nil)...)
		}
	}
	if obj, _ := fn.Object().(*types.Func); obj == nil || obj.Exported() || len(e.r.Pkg.Values(fn)) > 0 {
		out = append(out, e.root(p)...) // others may call it too
	}
	for i := range out {
		out[i].handle = p // the caller's, whichever it is
	}
	return distinct(out)
}

// load reads a variable, a field or a package variable.
func (e *chain) load(ld *ssa.UnOp, fr *entry) []query {
	var stores []*ssa.Store
	switch a := ld.X.(type) {
	case *ssa.Global:
		stores = e.r.Pkg.GlobalStores(a)
	case *ssa.FieldAddr:
		for _, s := range e.r.Pkg.Stores(ir.FieldOf(a.X.Type(), a.Field)) {
			stores = append(stores, s.Store)
		}
	default:
		return e.variable(ld, fr)
	}
	if len(stores) == 0 {
		return e.root(ld)
	}
	var out []query
	for _, s := range stores {
		out = append(out, e.eval(s.Val, s, nil)...)
	}
	for i := range out {
		out[i].handle = ld
	}
	return distinct(out)
}

// variable reads a local variable: the last assignment before the load if they are in
// one block, or else any.
func (e *chain) variable(ld *ssa.UnOp, fr *entry) []query {
	root := origin.Root(e.r.Pkg, ld.X)
	if root == nil {
		return e.root(ld)
	}
	var out []query
	writes := origin.Writes(root)
	for _, w := range writes {
		st, ok := w.(*ssa.Store)
		if !ok {
			return []query{{vague: true}}
		}
		if len(writes) > 1 && last(st, ld, writes) {
			return e.eval(st.Val, st, fr)
		}
		out = append(out, e.eval(st.Val, st, fr)...)
	}
	if len(out) == 0 {
		return e.root(ld)
	}
	if len(writes) > 1 {
		for i := range out {
			out[i].vague = true
		}
	}
	return distinct(out)
}

// last tells whether st is the last of some writes before ld in its block.
func last(st *ssa.Store, ld ssa.Instruction, writes []ssa.Instruction) bool {
	if st.Block() != ld.Block() || !before(st, ld) {
		return false
	}
	return !slices.ContainsFunc(writes, func(w ssa.Instruction) bool {
		return w != ssa.Instruction(st) && (w.Block() == st.Block() && before(st, w) && before(w, ld) || w.Parent() != st.Parent())
	})
}

// before tells whether a comes before b in their block.
func before(a, b ssa.Instruction) bool {
	ins := a.Block().Instrs
	return slices.Index(ins, a) < slices.Index(ins, b)
}

// changed adds what other calls do to v itself before it is used: their results are
// dropped, but builders of pointers change in place.
func (e *chain) changed(v ssa.Value, use ssa.Instruction, qs []query, fr *entry) []query {
	if !e.b.mutable || use == nil || v.Referrers() == nil || !e.carries(v.Type()) || !e.open(v) {
		return qs
	}
	for _, in := range *v.Referrers() {
		c, ok := in.(*ssa.Call)
		if !ok || in == use || c.Parent() != use.Parent() || !comesBefore(c, use) {
			continue
		}
		obj := ir.Object(&c.Call)
		if obj == nil || obj.Pkg() == nil || obj.Pkg().Path() != e.b.path || Receiver(&c.Call) != v {
			if obj == nil || !e.isEnd(obj) {
				qs = unsure(qs) // somebody else is given it
			}
			continue
		}
		if used(c) || e.isEnd(obj) {
			continue
		}
		with := e.apply(qs, c, obj, fr)
		if !c.Block().Dominates(use.Block()) {
			with = distinct(append(slices.Clip(qs), with...))
		}
		qs = with
	}
	return qs
}

func (e *chain) isEnd(obj *types.Func) bool {
	_, ok := lookup(e.b.ends, obj)
	return ok
}

// open tells whether v is a statement that has begun: a gorm database starts a new
// one at each call.
func (e *chain) open(v ssa.Value) bool {
	if e.b.path != gormPath {
		return true
	}
	c, ok := v.(*ssa.Call)
	if !ok {
		return false
	}
	obj := ir.Object(&c.Call)
	return obj != nil && obj.Pkg() != nil && obj.Pkg().Path() == gormPath && !gormSessions[obj.Name()]
}

func used(c *ssa.Call) bool {
	return slices.ContainsFunc(*c.Referrers(), func(in ssa.Instruction) bool {
		_, debug := in.(*ssa.DebugRef)
		return !debug
	})
}

func unsure(qs []query) []query {
	out := make([]query, len(qs))
	for i := range qs {
		out[i] = qs[i].copy()
		out[i].vague = true
	}
	return out
}

// comesBefore tells whether control can go from a to b.
func comesBefore(a, b ssa.Instruction) bool {
	if a.Block() == b.Block() && before(a, b) {
		return true
	}
	seen := map[*ssa.BasicBlock]bool{}
	todo := slices.Clone(a.Block().Succs)
	for len(todo) > 0 {
		x := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if x == b.Block() {
			return true
		}
		if !seen[x] {
			seen[x] = true
			todo = append(todo, x.Succs...)
		}
	}
	return false
}

// runner says which argument of a method is a function, or a list of functions, that
// is handed the chain; grouped: what it adds to the WHERE is in parentheses.
type runner struct {
	arg     int
	grouped bool
}

var runners = map[string]runner{
	"DB.Scopes":              {arg: 0},
	"UpdateQuery.Apply":      {arg: 0},
	"DeleteQuery.Apply":      {arg: 0},
	"SelectQuery.Apply":      {arg: 0},
	"InsertQuery.Apply":      {arg: 0},
	"UpdateQuery.WhereGroup": {arg: 1, grouped: true},
	"DeleteQuery.WhereGroup": {arg: 1, grouped: true},
	"SelectQuery.WhereGroup": {arg: 1, grouped: true},
}

// run applies the functions that a step is given.
func (e *chain) run(qs []query, c *ssa.CallCommon, rn runner, fr *entry) []query {
	fns, ok := functions(e.r, Arg(c, rn.arg))
	if !ok {
		return unsure(qs)
	}
	for _, fn := range fns {
		given := make([]query, len(qs))
		for i := range qs {
			given[i] = qs[i].copy()
			if rn.grouped {
				given[i].where = nil
			}
		}
		out := e.results(fn, 0, &entry{fn: fn, given: given, up: fr})
		if len(out) == 0 {
			return unsure(qs)
		}
		if rn.grouped {
			out = e.regroup(qs, out, c)
		}
		qs = out
	}
	return qs
}

// regroup puts what a function has added to the WHERE behind what was there.
func (e *chain) regroup(before, after []query, c *ssa.CallCommon) []query {
	sep := e.r.Text.Texts(Arg(c, 0))
	if len(before) != 1 || len(sep) != 1 {
		return unsure(before)
	}
	for i := range after {
		added := after[i].where
		after[i].where = slices.Clone(before[0].where)
		if len(added) > 0 {
			after[i].where = append(after[i].where, cond{piece: group(added), or: strings.EqualFold(strings.TrimSpace(sep[0]), "OR")})
		}
	}
	return after
}

// functions returns the functions behind a function value or a list of them.
func functions(r *Reader, v ssa.Value) ([]*ssa.Function, bool) {
	vals := []ssa.Value{v}
	if _, ok := v.Type().Underlying().(*types.Slice); ok {
		if vals, ok = origin.Variadic(v); !ok {
			return nil, false
		}
	}
	var out []*ssa.Function
	for _, v := range vals {
		fn := function(r, plain(v), 0)
		if fn == nil {
			return nil, false
		}
		out = append(out, fn)
	}
	return out, true
}

// function returns the one function that v is: a literal, a declared function, or
// the literal that a function of the package returns.
func function(r *Reader, v ssa.Value, depth int) *ssa.Function {
	switch v := v.(type) {
	case *ssa.Function:
		if v.Blocks == nil || v.Pkg != r.Pkg.SSA {
			return nil
		}
		return v
	case *ssa.MakeClosure:
		return function(r, v.Fn, depth)
	case *ssa.Call:
		callee := ir.Callee(&v.Call)
		if callee == nil || callee.Pkg != r.Pkg.SSA || depth > 2 {
			return nil
		}
		var only *ssa.Function
		for _, b := range callee.Blocks {
			ret := returned(b)
			if ret == nil || len(ret.Results) == 0 {
				continue
			}
			fn := function(r, plain(ret.Results[0]), depth+1)
			if fn == nil || only != nil && only != fn {
				return nil
			}
			only = fn
		}
		return only
	}
	return nil
}

func typeName(t types.Type) string {
	if n := ir.NamedOf(t); n != nil {
		return n.Obj().Name()
	}
	return ""
}
