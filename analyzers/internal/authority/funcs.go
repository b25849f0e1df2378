package authority

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/lease"
)

// FuncProofs returns what the results of fn, a function of this package, prove:
// result i is true, or nil, only where fn's own code has evidence. A function
// that does the work itself proves nothing to its callers; Writes decides that.
func (r *Reader) FuncProofs(fn *ssa.Function) []Proof {
	if out, ok := r.proofs[fn]; ok {
		return out
	}
	if r.proving[fn] {
		return nil
	}
	r.proving[fn] = true
	defer delete(r.proving, fn)
	var out []Proof
	res := fn.Signature.Results()
	for i := res.Len() - 1; i >= 0; i-- { // an error that proves it comes last, and is enough
		t := res.At(i).Type()
		switch {
		case isError(t):
			if p, ok := r.resultProof(fn, i, lease.NilError); ok {
				out = append(out, p)
			} else if p, ok := r.freeProof(fn, i); ok {
				out = append(out, p)
			}
		case isBoolean(t):
			if p, ok := r.resultProof(fn, i, lease.True); ok {
				out = append(out, p)
			} else if p, ok := r.freeProof(fn, i); ok {
				out = append(out, p)
			} else if p, ok := r.resultProof(fn, i, lease.False); ok {
				out = append(out, p)
			}
		case isPointer(t) && len(out) == 0:
			if p, ok := r.resultProof(fn, i, lease.NonNil); ok {
				out = append(out, p)
			}
		}
	}
	slices.Reverse(out)
	r.proofs[fn] = out
	return out
}

func isPointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

func isBoolean(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Kind() == types.Bool
}

func (r *Reader) resultProof(fn *ssa.Function, i int, mode lease.Proof) (Proof, bool) {
	var ev *Evidence
	for _, b := range fn.Blocks {
		if len(b.Instrs) == 0 {
			continue
		}
		ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !ok || i >= len(ret.Results) {
			continue
		}
		if mode == lease.False && failed(ret, i) {
			continue
		}
		e, ok := r.returned(ret, ret.Results[i], mode)
		if !ok {
			return Proof{}, false
		}
		if e != nil {
			ev = e
		}
	}
	if ev == nil || ev.Weak || ev.Kind == Absent {
		return Proof{}, false
	}
	return Proof{Result: i, Mode: mode, Acquires: ev.Kind == Acquired, What: ev.What, Held: ev.Held}, true
}

// freeProof: result i is false, or nil, only where fn found a lock free.
func (r *Reader) freeProof(fn *ssa.Function, i int) (Proof, bool) {
	var ev *Evidence
	for _, b := range fn.Blocks {
		if len(b.Instrs) == 0 {
			continue
		}
		ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !ok || i >= len(ret.Results) {
			continue
		}
		v := ret.Results[i]
		if isTrue(v) || nonNil(v) || isError(v.Type()) && onlyNonNil(ret.Block(), v) || failed(ret, i) {
			continue
		}
		e := r.foundFree(ret, v)
		if e == nil {
			return Proof{}, false
		}
		ev = e
	}
	if ev == nil {
		return Proof{}, false
	}
	return Proof{Result: i, Mode: lease.Free, What: ev.What, Table: ev.Table, Key: ev.Key}, true
}

// failed tells whether a return hands out an error beside result i.
func failed(ret *ssa.Return, i int) bool {
	last := len(ret.Results) - 1
	v := ret.Results[last]
	return i != last && isError(v.Type()) && (nonNil(v) || onlyNonNil(ret.Block(), v))
}

// foundFree returns the evidence that a lock is free where ret hands out v: v is
// false only then, or the return lies behind such a look.
func (r *Reader) foundFree(ret *ssa.Return, v ssa.Value) *Evidence {
	if !isFalse(v) && !isNil(v) && isBoolean(v.Type()) {
		for _, ev := range r.prove(v, false, nil, 0) {
			if ev.Kind == Absent && (ev.Table != "" || ev.Key != "") {
				return &ev
			}
		}
	}
	for _, reg := range r.Local(ret.Parent()) {
		if reg.Contains(ret) && reg.Ev.Kind == Absent {
			ev := reg.Ev
			return &ev
		}
	}
	return nil
}

// returned tells whether one return keeps the promise: it does not say yes, or
// it does so under evidence.
func (r *Reader) returned(ret *ssa.Return, v ssa.Value, mode lease.Proof) (*Evidence, bool) {
	if mode == lease.True {
		if isFalse(v) {
			return nil, true
		}
		if !isTrue(v) {
			if evs := r.prove(v, true, nil, 0); len(evs) > 0 {
				return &evs[0], true
			}
		}
		return r.regionAt(ret)
	}
	if mode == lease.False {
		if isTrue(v) {
			return nil, true
		}
		if !isFalse(v) {
			if evs := r.prove(v, false, ret.Block(), 0); len(evs) > 0 {
				return &evs[0], true
			}
		}
		return r.regionAt(ret)
	}
	if mode == lease.NonNil {
		if isNil(v) {
			return nil, true
		}
		return r.regionAt(ret)
	}
	if nonNil(v) {
		return nil, true
	}
	if !isNil(v) {
		if evs := r.proveNil(v, 0); len(evs) > 0 {
			return &evs[0], true
		}
		if onlyNonNil(ret.Block(), v) {
			return nil, true
		}
	}
	return r.regionAt(ret)
}

func (r *Reader) regionAt(in ssa.Instruction) (*Evidence, bool) {
	for _, reg := range r.Local(in.Parent()) {
		if reg.Contains(in) && !reg.Ev.Weak && reg.Ev.Kind != Absent {
			ev := reg.Ev
			return &ev, true
		}
	}
	return nil, false
}

// onlyNonNil tells whether b runs only after v was found not to be nil.
func onlyNonNil(b *ssa.BasicBlock, v ssa.Value) bool {
	for d := b; d != nil; d = d.Idom() {
		p := d.Idom()
		if p == nil || len(p.Instrs) == 0 || len(d.Preds) != 1 || d.Preds[0] != p {
			continue
		}
		in, ok := p.Instrs[len(p.Instrs)-1].(*ssa.If)
		if !ok {
			continue
		}
		cmp, ok := in.Cond.(*ssa.BinOp)
		if !ok || !(cmp.X == v && isNil(cmp.Y) || cmp.Y == v && isNil(cmp.X)) {
			continue
		}
		if (cmp.Op.String() == "!=") == (p.Succs[0] == d) {
			return true
		}
	}
	return false
}
