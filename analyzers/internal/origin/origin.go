// Package origin answers one question: where does this SSA value come from?
//
// One demand-driven walk serves SQL text, tokens, times and transactions. It
// goes backwards through phis, conversions, local variables, closures, struct
// fields, the callers of unexported parameters and the results of functions of
// the same package. It is bounded; a bound that is hit is counted, and what lies
// behind it counts as not known.
package origin

import (
	"cmp"
	"go/token"
	"go/types"
	"slices"
	"sync/atomic"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
)

// The bounds of one walk.
const (
	MaxDepth   = 64
	MaxCallers = 32
	MaxNodes   = 2000
)

// Hits counts the walks that a bound cut short.
type Hits struct{ Depth, Callers, Nodes atomic.Int64 }

// Tracer walks values of one package.
type Tracer struct {
	Pkg  *ir.Package
	Hits *Hits // may be nil
}

// Visit is called for every value a walk meets. It returns the values to go on
// with and true, or false to let the walk expand v as usual. Where out is not
// nil, v is a call that was handed the address out, and so may have made the
// value traced (Scan, Decode); such a call is not expanded.
type Visit func(v ssa.Value, out ssa.Value) (next []ssa.Value, handled bool)

type node struct {
	v    ssa.Value
	from ssa.CallInstruction // the call through whose result we came, if any
}

// Walk visits v and all it can come from inside the package. Order is
// deterministic. It reports whether it saw everything: false when a bound was hit.
func (t *Tracer) Walk(v ssa.Value, visit Visit) bool {
	w := &walk{t: t, visit: visit, seen: make(map[node]bool), structs: make(map[structField]bool)}
	w.complete = true
	w.step(node{v: v}, nil, 0)
	return w.complete
}

type walk struct {
	t        *Tracer
	visit    Visit
	seen     map[node]bool
	structs  map[structField]bool // struct values already searched for a field
	complete bool
}

type structField struct {
	v     ssa.Value
	field *types.Var
	from  ssa.CallInstruction // the call through whose result we came, if any
}

// frames is the chain of calls the walk has gone into, innermost first.
type frames struct {
	call ssa.CallInstruction
	up   *frames
}

func (w *walk) step(n node, fr *frames, depth int) {
	if n.v == nil {
		return
	}
	if fr != nil {
		n.from = fr.call
	}
	if w.seen[n] {
		return
	}
	if depth > MaxDepth {
		w.cut(func(h *Hits) *atomic.Int64 { return &h.Depth })
		return
	}
	if len(w.seen) > MaxNodes {
		w.cut(func(h *Hits) *atomic.Int64 { return &h.Nodes })
		return
	}
	w.seen[n] = true
	if next, handled := w.visit(n.v, nil); handled {
		for _, v := range next {
			w.step(node{v: v}, fr, depth+1)
		}
		return
	}
	w.expand(n.v, fr, depth+1)
}

func (w *walk) cut(which func(*Hits) *atomic.Int64) {
	w.complete = false
	if w.t.Hits != nil {
		which(w.t.Hits).Add(1)
	}
}

func (w *walk) all(vs []ssa.Value, fr *frames, depth int) {
	for _, v := range vs {
		w.step(node{v: v}, fr, depth)
	}
}

func (w *walk) expand(v ssa.Value, fr *frames, depth int) {
	switch v := v.(type) {
	case *ssa.Phi:
		w.all(v.Edges, fr, depth)
	case *ssa.ChangeType:
		w.step(node{v: v.X}, fr, depth)
	case *ssa.Convert:
		w.step(node{v: v.X}, fr, depth)
	case *ssa.MultiConvert:
		w.step(node{v: v.X}, fr, depth)
	case *ssa.ChangeInterface:
		w.step(node{v: v.X}, fr, depth)
	case *ssa.MakeInterface:
		w.step(node{v: v.X}, fr, depth)
	case *ssa.TypeAssert:
		w.step(node{v: v.X}, fr, depth)
	case *ssa.Slice:
		if vals := elements(v); len(vals) > 0 {
			w.all(vals, fr, depth)
			return
		}
		w.step(node{v: v.X}, fr, depth)
	case *ssa.Extract:
		w.extract(v, fr, depth)
	case *ssa.Call:
		w.result(v, 0, fr, depth)
	case *ssa.UnOp:
		if v.Op == token.MUL {
			w.load(v.X, fr, depth)
		}
	case *ssa.Field:
		w.field(v, fr, depth)
	case *ssa.FieldAddr, *ssa.IndexAddr, *ssa.Alloc, *ssa.Global:
		w.load(v, fr, depth)
	case *ssa.Index:
		w.step(node{v: v.X}, fr, depth)
	case *ssa.Lookup:
		w.step(node{v: v.X}, fr, depth)
	case *ssa.Parameter:
		w.param(v, fr, depth)
	case *ssa.FreeVar:
		w.free(v, fr, depth)
	}
}

func (w *walk) extract(v *ssa.Extract, fr *frames, depth int) {
	switch t := v.Tuple.(type) {
	case *ssa.Call:
		if next, handled := w.visit(t, nil); handled {
			w.all(next, fr, depth)
			return
		}
		w.result(t, v.Index, fr, depth)
	case *ssa.TypeAssert:
		w.step(node{v: t.X}, fr, depth)
	case *ssa.Lookup:
		w.step(node{v: t.X}, fr, depth)
	case *ssa.UnOp:
		w.step(node{v: t.X}, fr, depth)
	case *ssa.Next:
		if rng, ok := t.Iter.(*ssa.Range); ok {
			w.step(node{v: rng.X}, fr, depth)
		}
	}
}

// result goes into the function of this package that call calls.
func (w *walk) result(call *ssa.Call, i int, fr *frames, depth int) {
	in := &frames{call: call, up: fr}
	for _, r := range w.results(call, i, fr) {
		w.step(node{v: r}, in, depth)
	}
}

// results are what the function of this package that call calls returns at i; none if it is
// not of this package, or was gone into before.
func (w *walk) results(call *ssa.Call, i int, fr *frames) []ssa.Value {
	callee := ir.Callee(&call.Call)
	if callee == nil || callee.Pkg != w.t.Pkg.SSA || callee.Blocks == nil {
		return nil
	}
	for f := fr; f != nil; f = f.up {
		if ir.Callee(f.call.Common()) == callee {
			return nil // recursion adds nothing
		}
	}
	return ir.Results(callee, i)
}

// param goes to the argument of the call the walk came through, or else of
// every caller in the package.
func (w *walk) param(v *ssa.Parameter, fr *frames, depth int) {
	fn := v.Parent()
	i := paramIndex(fn, v)
	if fr != nil && ir.Callee(fr.call.Common()) == ir.Origin(fn) {
		if a := Arg(fr.call.Common(), i); a != nil {
			w.step(node{v: a}, fr.up, depth)
		}
		return
	}
	calls := w.t.Pkg.Callers(fn)
	if len(calls) > MaxCallers {
		w.cut(func(h *Hits) *atomic.Int64 { return &h.Callers })
		calls = calls[:MaxCallers]
	}
	for _, c := range calls {
		if a := Arg(c.Common(), i); a != nil {
			w.step(node{v: a}, nil, depth)
		}
	}
}

func paramIndex(fn *ssa.Function, p *ssa.Parameter) int {
	for i, q := range fn.Params {
		if q == p {
			return i
		}
	}
	return -1
}

// Arg returns argument i of a static call, the receiver being number 0 of a
// method, or nil.
func Arg(c *ssa.CallCommon, i int) ssa.Value {
	if c.IsInvoke() {
		if i == 0 {
			return c.Value
		}
		i--
	}
	if i < 0 || i >= len(c.Args) {
		return nil
	}
	return c.Args[i]
}

func (w *walk) free(v *ssa.FreeVar, fr *frames, depth int) {
	fn := v.Parent()
	for i, q := range fn.FreeVars {
		if q != v {
			continue
		}
		for _, mc := range w.t.Pkg.Closures(fn) {
			w.step(node{v: mc.Bindings[i]}, fr, depth)
		}
	}
}

// load goes from an address to the values stored there.
func (w *walk) load(addr ssa.Value, fr *frames, depth int) {
	switch a := addr.(type) {
	case *ssa.Alloc, *ssa.FreeVar:
		root := Root(w.t.Pkg, addr)
		if root == nil {
			w.step(node{v: addr}, fr, depth)
			return
		}
		for _, s := range Writes(root) {
			switch s := s.(type) {
			case *ssa.Store:
				w.step(node{v: s.Val}, fr, depth)
			case *ssa.Call: // its address was handed over: what came back is the call's
				w.visitOut(s, root, fr, depth)
			}
		}
	case *ssa.FieldAddr:
		if next, handled := w.visit(a, nil); handled {
			w.all(next, fr, depth)
			return
		}
		w.fieldAddr(a, fr, depth)
	case *ssa.IndexAddr:
		if vals := elements(a.X); len(vals) > 0 {
			w.all(vals, fr, depth)
			return
		}
		w.step(node{v: a.X}, fr, depth)
	case *ssa.Global:
		if next, handled := w.visit(a, nil); handled {
			w.all(next, fr, depth)
			return
		}
		for _, s := range w.t.Pkg.GlobalStores(a) {
			w.step(node{v: s.Val}, fr, depth)
		}
	default:
		w.step(node{v: addr}, fr, depth)
	}
}

func (w *walk) visitOut(c *ssa.Call, addr ssa.Value, fr *frames, depth int) {
	if next, handled := w.visit(c, addr); handled {
		w.all(next, fr, depth)
	}
}

func (w *walk) fieldAddr(a *ssa.FieldAddr, fr *frames, depth int) {
	v := ir.FieldOf(a.X.Type(), a.Field)
	if v == nil {
		return
	}
	for _, o := range w.t.Pkg.Outs(v) {
		w.visitOut(o.Call, o.Addr, nil, depth)
	}
	// A local struct: what was stored into this very variable wins.
	if root := Root(w.t.Pkg, a.X); root != nil && w.fromVariable(root, v, nil, fr, depth) {
		return
	}
	for _, s := range w.t.Pkg.Stores(v) {
		w.step(node{v: s.Store.Val}, nil, depth)
	}
}

// field goes from a struct value's field to what was stored there.
func (w *walk) field(f *ssa.Field, fr *frames, depth int) {
	v := ir.FieldOf(f.X.Type(), f.Field)
	if v == nil {
		return
	}
	w.throughStruct(f.X, v, fr, depth)
}

// throughStruct follows a struct value to where its field v was set: the
// literal it was loaded from, or every assignment to the field in the package.
func (w *walk) throughStruct(x ssa.Value, v *types.Var, fr *frames, depth int) {
	key := structField{v: x, field: v}
	if fr != nil {
		key.from = fr.call
	}
	if w.structs[key] { // two variables that are copied into each other
		return
	}
	w.structs[key] = true
	for _, o := range w.t.Pkg.Outs(v) {
		w.visitOut(o.Call, o.Addr, nil, depth)
	}
	if ld, ok := x.(*ssa.UnOp); ok && ld.Op == token.MUL {
		if ia, ok := ld.X.(*ssa.IndexAddr); ok { // an element of a list
			w.step(node{v: ia.X}, fr, depth)
			return
		}
		if root := Root(w.t.Pkg, ld.X); root != nil && w.fromVariable(root, v, x, fr, depth) {
			return
		}
	}
	if w.structResult(x, v, fr, depth) {
		return
	}
	for _, s := range w.t.Pkg.Stores(v) {
		w.step(node{v: s.Store.Val}, nil, depth)
	}
}

// structResult goes into the function of this package that made the struct value x, where
// each of its literals is one of its own. It reports whether x is such a value.
func (w *walk) structResult(x ssa.Value, v *types.Var, fr *frames, depth int) bool {
	i := 0
	if e, ok := x.(*ssa.Extract); ok {
		x, i = e.Tuple, e.Index
	}
	call, ok := x.(*ssa.Call)
	if !ok || depth > MaxDepth {
		return false
	}
	results := w.results(call, i, fr)
	for _, r := range results {
		w.throughStruct(r, v, &frames{call: call, up: fr}, depth+1)
	}
	return len(results) > 0
}

// fromVariable goes to what field v of the local struct root was set to: by
// itself, with the whole struct, or by a call that was given root's address. It
// reports whether there was any. The value self, a load of root, is passed over.
func (w *walk) fromVariable(root *ssa.Alloc, v *types.Var, self ssa.Value, fr *frames, depth int) bool {
	found := false
	for _, s := range w.t.Pkg.Stores(v) {
		if Root(w.t.Pkg, s.Addr.X) == root {
			found = true
			w.step(node{v: s.Store.Val}, fr, depth)
		}
	}
	for _, s := range Writes(root) {
		switch s := s.(type) {
		case *ssa.Call:
			found = true
			w.visitOut(s, root, fr, depth)
		case *ssa.Store:
			if s.Val != self {
				found = true
				w.throughStruct(s.Val, v, fr, depth+1)
			}
		}
	}
	return found
}

// Root returns the local variable (or the outermost one a closure captured)
// that addr is the address of, or nil.
func Root(p *ir.Package, addr ssa.Value) *ssa.Alloc {
	for range MaxDepth {
		switch a := addr.(type) {
		case *ssa.Alloc:
			return a
		case *ssa.FreeVar:
			var b ssa.Value
			for i, q := range a.Parent().FreeVars {
				if q == a {
					for _, mc := range p.Closures(a.Parent()) {
						b = mc.Bindings[i]
					}
				}
			}
			if b == nil {
				return nil
			}
			addr = b
		case *ssa.ChangeType:
			addr = a.X
		case *ssa.MakeInterface:
			addr = a.X
		default:
			return nil
		}
	}
	return nil
}

// Writes returns, in source order of its uses, the stores into the variable
// root and the calls that were given its address (Scan, Decode, First).
func Writes(root *ssa.Alloc) []ssa.Instruction {
	var out []ssa.Instruction
	seen := map[ssa.Instruction]bool{}
	var uses func(v ssa.Value, depth int)
	uses = func(v ssa.Value, depth int) {
		if v.Referrers() == nil || depth > 6 {
			return
		}
		for _, in := range *v.Referrers() {
			switch in := in.(type) {
			case *ssa.Store:
				if in.Addr == v && !seen[in] {
					seen[in] = true
					out = append(out, in)
				} else if in.Val == v {
					// Its address is put into an argument list.
					if ia, ok := in.Addr.(*ssa.IndexAddr); ok {
						uses(ia.X, depth+1)
					}
				}
			case *ssa.MakeInterface:
				uses(in, depth+1)
			case *ssa.ChangeType:
				uses(in, depth+1)
			case *ssa.Slice:
				uses(in, depth+1)
			case *ssa.MakeClosure:
				fn, _ := in.Fn.(*ssa.Function)
				for i, b := range in.Bindings {
					if b == v && fn != nil && i < len(fn.FreeVars) {
						uses(fn.FreeVars[i], depth+1)
					}
				}
			case *ssa.Call:
				for _, a := range in.Call.Args {
					if a == v && !seen[in] {
						seen[in] = true
						out = append(out, in)
					}
				}
			}
		}
	}
	uses(root, 0)
	return out
}

// elements returns the values stored into the backing array of a variadic
// argument list or slice literal, in index order; nil if x is not one.
func elements(x ssa.Value) []ssa.Value {
	var out []ssa.Value
	for _, e := range stored(x) {
		out = append(out, e.val)
	}
	return out
}

// ordered returns the elements of such a list from the first on, up to one that
// has no value or more than one, and whether these are all.
func ordered(x ssa.Value) (vals []ssa.Value, complete bool) {
	es := stored(x)
	for i, e := range es {
		if e.index != int64(i) {
			return vals, false
		}
		if i+1 < len(es) && es[i+1].index == e.index {
			return vals, false
		}
		vals = append(vals, e.val)
	}
	return vals, true
}

type element struct {
	index int64 // -1: not constant
	val   ssa.Value
}

func stored(x ssa.Value) []element {
	var out []element
	add := func(x ssa.Value) {
		for _, in := range *x.Referrers() {
			ia, ok := in.(*ssa.IndexAddr)
			if !ok || ia.X != x {
				continue
			}
			index := int64(-1)
			if c, ok := ia.Index.(*ssa.Const); ok && c.Value != nil {
				index = c.Int64()
			}
			for _, u := range *ia.Referrers() {
				if st, ok := u.(*ssa.Store); ok && st.Addr == ia {
					out = append(out, element{index, st.Val})
				}
			}
		}
	}
	if s, ok := x.(*ssa.Slice); ok {
		if _, ok := s.X.(*ssa.Alloc); !ok {
			return nil
		}
		add(s)
		x = s.X
	}
	a, ok := x.(*ssa.Alloc)
	if !ok || a.Referrers() == nil {
		return nil
	}
	add(a)
	slices.SortStableFunc(out, func(a, b element) int { return cmp.Compare(a.index, b.index) })
	return out
}

// Variadic returns the single values behind a variadic argument, in order, and
// whether they are known from the first on: a list made at the call, a slice
// literal, what was appended to one. Behind the last known value there may be
// more.
func Variadic(x ssa.Value) ([]ssa.Value, bool) {
	vals, _, ok := list(x, map[ssa.Value]bool{})
	return vals, ok
}

// list returns the known first elements of a slice, and whether they are all.
func list(x ssa.Value, busy map[ssa.Value]bool) (vals []ssa.Value, complete, ok bool) {
	if busy[x] || len(busy) > MaxDepth {
		return nil, false, false
	}
	busy[x] = true
	defer delete(busy, x)
	switch v := x.(type) {
	case *ssa.Const:
		return nil, true, v.Value == nil
	case *ssa.Call:
		b, isBuiltin := v.Call.Value.(*ssa.Builtin)
		if !isBuiltin || b.Name() != "append" || len(v.Call.Args) != 2 {
			return nil, false, false
		}
		vals, complete, ok = list(v.Call.Args[0], busy)
		if !ok || !complete {
			return vals, false, ok
		}
		more, moreComplete, moreOK := list(v.Call.Args[1], busy)
		return append(slices.Clip(vals), more...), moreOK && moreComplete, true
	case *ssa.Phi:
		// In a loop that appends, what stood there before stays in front.
		for _, e := range v.Edges {
			if reaches(e, v, 0) {
				continue
			}
			edge, _, edgeOK := list(e, busy)
			if !edgeOK {
				return nil, false, false
			}
			if !ok || len(edge) < len(vals) {
				vals, ok = edge, true
			}
		}
		return vals, false, ok
	}
	if vals, complete = ordered(x); vals != nil {
		return vals, complete, true
	}
	return nil, false, false
}

// reaches tells whether v is made of phi by appending.
func reaches(v ssa.Value, phi *ssa.Phi, depth int) bool {
	if v == phi {
		return true
	}
	c, ok := v.(*ssa.Call)
	return ok && depth < MaxDepth && len(c.Call.Args) > 0 && reaches(c.Call.Args[0], phi, depth+1)
}
