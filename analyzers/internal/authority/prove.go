package authority

import (
	"go/constant"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/lease"
	"github.com/fencelint/fence/analyzers/internal/origin"
	"github.com/fencelint/fence/analyzers/internal/sink"
)

const maxProve = 12

// prove returns the evidence that follows from v having the truth value want.
// other is the block taken in the opposite case.
func (r *Reader) prove(v ssa.Value, want bool, other *ssa.BasicBlock, depth int) []Evidence {
	if depth > maxProve {
		return nil
	}
	switch v := v.(type) {
	case *ssa.UnOp:
		switch v.Op {
		case token.NOT:
			return r.prove(v.X, !want, other, depth+1)
		case token.MUL:
			return r.proveLoad(v, want, other, depth)
		}
	case *ssa.Phi:
		return r.provePhi(v, want, other, depth)
	case *ssa.BinOp:
		return r.proveBinary(v, want, other, depth)
	case *ssa.Call:
		return r.proveCall(v, 0, want, other)
	case *ssa.Extract:
		switch t := v.Tuple.(type) {
		case *ssa.Call:
			return r.proveCall(t, v.Index, want, other)
		case *ssa.TypeAssert, *ssa.Lookup:
			if c := readOf(v); c != nil && v.Index == 1 && !want {
				return r.absentIn(c) // the attribute is not there
			}
		}
	}
	return nil
}

// readOf returns the call that the map or value behind a test of its presence came
// from: out.Item["Owner"].(*types.AttributeValueMemberS).
func readOf(v ssa.Value) *ssa.Call {
	for range 10 {
		switch x := v.(type) {
		case *ssa.Call:
			return x
		case *ssa.Extract:
			v = x.Tuple
		case *ssa.TypeAssert:
			v = x.X
		case *ssa.Lookup:
			v = x.X
		case *ssa.UnOp:
			v = x.X
		case *ssa.FieldAddr:
			v = x.X
		default:
			return nil
		}
	}
	return nil
}

// provePhi: a && b is true only if both are; its other edges are the constant
// false. With want false the same holds for a || b.
func (r *Reader) provePhi(v *ssa.Phi, want bool, other *ssa.BasicBlock, depth int) []Evidence {
	var out []Evidence
	live := 0
	for i, e := range v.Edges {
		if c, ok := e.(*ssa.Const); ok && c.Value != nil && c.Value.Kind() == constant.Bool {
			if constant.BoolVal(c.Value) == want {
				// This edge gives the answer by itself: what led to it must prove it.
				evs := r.edge(v.Block().Preds[i], v.Block(), other, depth)
				if len(evs) == 0 {
					return nil
				}
				out = append(out, evs...)
			}
			continue
		}
		live++
		evs := r.prove(e, want, other, depth+1)
		evs = append(evs, r.edge(v.Block().Preds[i], v.Block(), other, depth)...)
		if len(evs) == 0 {
			return nil
		}
		out = append(out, evs...)
	}
	return out
}

// edge returns what taking the branch from b to succ proves, if b ends in one.
func (r *Reader) edge(b, succ, other *ssa.BasicBlock, depth int) []Evidence {
	if len(b.Instrs) == 0 {
		return nil
	}
	in, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If)
	if !ok {
		if len(b.Preds) == 1 && depth < maxProve {
			return r.edge(b.Preds[0], b, other, depth+1)
		}
		return nil
	}
	if b.Succs[0] == b.Succs[1] {
		return nil
	}
	return r.prove(in.Cond, b.Succs[0] == succ, other, depth+1)
}

// proveLoad: a flag set where ownership was proven, or a bool a query filled in.
func (r *Reader) proveLoad(v *ssa.UnOp, want bool, other *ssa.BasicBlock, depth int) []Evidence {
	if !want {
		if evs := r.free(v.Pos(), v); evs != nil {
			return evs // "locked" is false
		}
	}
	if want {
		for _, d := range r.Record.Of(v) {
			if ev, ok := r.queried(d); ok {
				return []Evidence{ev}
			}
		}
	}
	if fa, ok := v.X.(*ssa.FieldAddr); ok && want {
		if ev, ok := r.succeeded(fa); ok {
			return []Evidence{ev}
		}
		if ev := r.flag(ir.FieldOf(fa.X.Type(), fa.Field)); ev != nil {
			e := *ev
			e.Pos = v.Pos()
			return []Evidence{e}
		}
		return nil
	}
	root := origin.Root(r.Pkg, v.X)
	if root == nil {
		return nil
	}
	// A local variable kept in memory: every value it is given must prove it, the
	// opposite constant aside.
	var out []Evidence
	for _, in := range origin.Writes(root) {
		st, ok := in.(*ssa.Store)
		if !ok {
			return nil
		}
		if c, ok := st.Val.(*ssa.Const); ok && c.Value != nil && c.Value.Kind() == constant.Bool && constant.BoolVal(c.Value) != want {
			continue
		}
		evs := r.prove(st.Val, want, other, depth+1)
		if len(evs) == 0 {
			return nil
		}
		out = append(out, evs...)
	}
	return out
}

func (r *Reader) proveBinary(v *ssa.BinOp, want bool, other *ssa.BasicBlock, depth int) []Evidence {
	x, y := v.X, v.Y
	if isNil(x) || isTrue(x) || isFalse(x) || isConst(x) && !isConst(y) {
		x, y = y, x
	}
	switch v.Op {
	case token.EQL, token.NEQ:
		same := want == (v.Op == token.EQL)
		switch {
		case isNil(y):
			if isError(x.Type()) {
				if same {
					return r.proveNil(x, depth)
				}
				return nil
			}
			if same {
				return r.absent(x)
			}
			return append(r.declared(x), r.handedOut(x)...)
		case isTrue(y), isFalse(y):
			return r.prove(x, same == isTrue(y), other, depth+1)
		}
		if ev, ok := r.notLost(x, y, same); ok {
			return []Evidence{ev}
		}
		if evs := r.counted(v, x, y, want); evs != nil {
			return evs
		}
		if same && isZero(y) {
			return r.free(v.Pos(), x)
		}
		if same && isNotFound(y) {
			return r.notFound(x)
		}
		if same {
			return r.compared(v.Pos(), x, y, true)
		}
		return nil
	case token.LSS, token.GTR, token.LEQ, token.GEQ:
		if d, ok := x.(*ssa.BinOp); ok && d.Op == token.SUB && isZero(y) && x == v.X { // until - now > 0
			return r.proveOrder(v, d.X, d.Y, want, other)
		}
		if evs := r.counted(v, x, y, want); evs != nil {
			return evs
		}
		if evs := r.proveOrder(v, v.X, v.Y, want, other); evs != nil {
			return evs
		}
	}
	return nil
}

// proveOrder: x and y are compared by v's operation, themselves or by their
// difference.
func (r *Reader) proveOrder(v *ssa.BinOp, x, y ssa.Value, want bool, other *ssa.BasicBlock) []Evidence {
	less := v.Op == token.LSS || v.Op == token.LEQ
	if ev, ok := r.expiryAgainst(v.Pos(), y, x, less == want); ok { // now < expiry
		return []Evidence{ev}
	}
	if ev, ok := r.expiryAgainst(v.Pos(), x, y, less != want); ok { // expiry > now
		return []Evidence{ev}
	}
	if ev, ok := r.age(v, less == want); ok {
		return []Evidence{ev}
	}
	if !bails(other) {
		return nil
	}
	// A stored token that is larger says that somebody else owns it.
	low, high := x, y
	if want == (v.Op == token.GTR || v.Op == token.GEQ) {
		low, high = high, low
	}
	return r.comparedWith(v.Pos(), low, high, false)
}

// notLost: a select that does not block found the channel that a lock gave out
// for its loss still open.
func (r *Reader) notLost(x, y ssa.Value, same bool) (Evidence, bool) {
	ex, ok := x.(*ssa.Extract)
	n, isInt := intConst(y)
	if !ok || !isInt || same || ex.Index != 0 {
		return Evidence{}, false
	}
	sel, ok := ex.Tuple.(*ssa.Select)
	if !ok || sel.Blocking || n < 0 || int(n) >= len(sel.States) {
		return Evidence{}, false
	}
	var ev Evidence
	r.Sink.Trace.Walk(sel.States[n].Chan, func(v, _ ssa.Value) ([]ssa.Value, bool) {
		c, isCall := v.(*ssa.Call)
		if !isCall {
			return nil, false
		}
		obj := ir.Object(&c.Call)
		l, known := lease.Find(obj)
		if known && (l.Kind == lease.Acquire || l.Kind == lease.Lost) || obj != nil && r.Lost != nil && r.Lost(obj) {
			ev = Evidence{Kind: Checked, Pos: sel.States[n].Pos, What: callName(&c.Call) + "'s loss channel"}
		}
		return nil, true
	})
	return ev, ev.What != ""
}

func isConst(v ssa.Value) bool { _, ok := v.(*ssa.Const); return ok }

// bails tells whether a block leads straight out of the function or the loop
// without calling a store.
func bails(b *ssa.BasicBlock) bool {
	for range 4 {
		if b == nil || len(b.Instrs) == 0 {
			return false
		}
		switch b.Instrs[len(b.Instrs)-1].(type) {
		case *ssa.Return, *ssa.Panic:
			return true
		case *ssa.Jump:
			if b.Succs[0].Index <= b.Index {
				return true // continue
			}
			b = b.Succs[0]
		default:
			return false
		}
	}
	return false
}

// counted: a row count that says that a claim statement matched, or the length
// of what a lookup of lock records found.
func (r *Reader) counted(v *ssa.BinOp, x, y ssa.Value, want bool) []Evidence {
	n, ok := intConst(y)
	if !ok {
		return nil
	}
	zero := zeroOnly(v, x, n, want)
	if call, ok := x.(*ssa.Call); ok {
		if b, ok := call.Call.Value.(*ssa.Builtin); ok && b.Name() == "len" {
			if zero {
				return append(r.absent(call.Call.Args[0]), r.declared(call.Call.Args[0])...)
			}
			return r.declared(call.Call.Args[0])
		}
	}
	if zero {
		return r.absent(x)
	}
	return append(r.claimed(x), r.answered(x)...)
}

// zeroOnly tells whether the comparison leaves only zero (or less) for x.
func zeroOnly(v *ssa.BinOp, x ssa.Value, n int64, want bool) bool {
	op := v.Op
	if v.X != x { // the constant stood on the left
		op = map[token.Token]token.Token{token.LSS: token.GTR, token.GTR: token.LSS, token.LEQ: token.GEQ, token.GEQ: token.LEQ,
			token.EQL: token.EQL, token.NEQ: token.NEQ}[op]
	}
	switch op {
	case token.EQL:
		return want == (n == 0)
	case token.NEQ:
		return want == (n != 0)
	case token.GTR:
		return !want && n == 0
	case token.GEQ:
		return !want && n == 1
	case token.LSS:
		return want && n == 1
	case token.LEQ:
		return want && n == 0
	}
	return false
}

func intConst(v ssa.Value) (int64, bool) {
	c, ok := v.(*ssa.Const)
	if !ok || c.Value == nil || c.Value.Kind() != constant.Int {
		return 0, false
	}
	return constant.Int64Val(c.Value)
}

// proveCall returns the evidence in a bool result of a call.
func (r *Reader) proveCall(c *ssa.Call, result int, want bool, other *ssa.BasicBlock) []Evidence {
	obj := ir.Object(&c.Call)
	if l, ok := lease.Find(obj); ok {
		if want && l.Proof == lease.True && (l.Kind == lease.Acquire || l.Kind == lease.Check) {
			ev := r.acquired(c)
			if l.Kind == lease.Check {
				ev.Kind = Checked
			}
			return []Evidence{ev}
		}
		return nil
	}
	if obj == nil {
		if r.CheckValue != nil && want {
			if name, ok := r.CheckValue(&c.Call); ok {
				return []Evidence{{Kind: Checked, Pos: c.Pos(), What: name}}
			}
		}
		return nil
	}
	if ev, ok := r.setnx(c, obj); ok {
		if want && result == 0 {
			return []Evidence{ev}
		}
		return nil
	}
	if obj.FullName() == "(*sync/atomic.Bool).Load" && want {
		if fa, ok := c.Call.Args[0].(*ssa.FieldAddr); ok {
			if ev := r.flag(ir.FieldOf(fa.X.Type(), fa.Field)); ev != nil {
				e := *ev
				e.Pos = c.Pos()
				return []Evidence{e}
			}
		}
		return nil
	}
	if obj.FullName() == "errors.Is" && len(c.Call.Args) == 2 {
		if want && isNotFound(c.Call.Args[1]) {
			return r.notFound(c.Call.Args[0])
		}
		return nil
	}
	if equal[obj.FullName()] && len(c.Call.Args) == 2 {
		if want {
			return r.compared(c.Pos(), c.Call.Args[0], c.Call.Args[1], true)
		}
		return nil
	}
	if ev, ok := r.unexpired(c, obj, want); ok {
		return []Evidence{ev}
	}
	if want {
		return r.fromFunc(c, result, lease.True)
	}
	if evs := r.fromFunc(c, result, lease.Free); evs != nil || !bails(other) {
		return evs
	}
	return r.fromFunc(c, result, lease.False)
}

// fromFunc asks what a result of a function proves: of this package by looking
// at it, of another by its summary or fence.yaml.
func (r *Reader) fromFunc(c *ssa.Call, result int, mode lease.Proof) []Evidence {
	obj := ir.Object(&c.Call)
	if obj == nil {
		return nil
	}
	var ps []Proof
	if r.Proofs != nil {
		ps = r.Proofs(obj)
	}
	if callee := ir.Callee(&c.Call); len(ps) == 0 && callee != nil && callee.Pkg == r.Pkg.SSA {
		ps = r.FuncProofs(callee)
	}
	for _, p := range ps {
		if p.Result == result && p.Mode == mode {
			kind := Checked
			switch {
			case p.Acquires:
				kind = Acquired
			case mode == lease.Free:
				return []Evidence{{Kind: Absent, Pos: c.Pos(), What: FuncName(obj), Table: p.Table, Key: p.Key, Request: p.Table == ""}}
			}
			ev := Evidence{Kind: kind, Pos: c.Pos(), What: FuncName(obj), Held: p.Held, Handle: sink.Receiver(&c.Call)}
			r.keyOf(c, &ev)
			return []Evidence{ev}
		}
	}
	return nil
}

// handedOut: a result that is nil unless its function took ownership is not nil.
func (r *Reader) handedOut(v ssa.Value) []Evidence {
	switch v := v.(type) {
	case *ssa.Call:
		return r.fromFunc(v, 0, lease.NonNil)
	case *ssa.Extract:
		if c, ok := v.Tuple.(*ssa.Call); ok {
			return r.fromFunc(c, v.Index, lease.NonNil)
		}
	}
	return nil
}

// keyOf notes a lock's key among a call's arguments.
func (r *Reader) keyOf(c *ssa.Call, ev *Evidence) {
	for _, a := range c.Call.Args {
		if b, ok := a.Type().Underlying().(*types.Basic); !ok || b.Kind() != types.String {
			continue
		}
		for _, t := range r.Sink.Text.Texts(a) {
			if lease.IsLockKey(t) {
				ev.Key, ev.KeyValue = t, a
				return
			}
		}
	}
}

// declared: the value is a result of a call that fence.yaml names as a check and
// that is neither a bool nor an error.
func (r *Reader) declared(v ssa.Value) []Evidence {
	ex, ok := v.(*ssa.Extract)
	if !ok || r.Proofs == nil {
		return nil
	}
	c, ok := ex.Tuple.(*ssa.Call)
	if !ok {
		return nil
	}
	obj := ir.Object(&c.Call)
	if obj == nil {
		return nil
	}
	for _, p := range r.Proofs(obj) {
		if p.Result == -1 {
			return []Evidence{{Kind: Checked, Pos: c.Pos(), What: FuncName(obj)}}
		}
	}
	return nil
}
