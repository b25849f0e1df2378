package sqltext

// This file reads maps of texts, and of prepared statements.

import (
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
)

// lookup reads the values of a map: those under the keys that are looked up, as far
// as they are known.
func (e *eval) lookup(l *ssa.Lookup, fr *frames, depth int) []string {
	maps, ok := e.maps(l.X)
	if !ok {
		return unknown
	}
	return e.entries(maps, e.value(l.Index, fr, depth), depth)
}

// ranged reads the keys or the values of a map that a loop goes over.
func (e *eval) ranged(n *ssa.Next, i int, depth int) []string {
	rng, ok := n.Iter.(*ssa.Range)
	if !ok || n.IsString {
		return unknown
	}
	key, known := e.keys[n]
	if i == 1 {
		if known {
			return []string{key}
		}
		return unknown
	}
	maps, ok := e.maps(rng.X)
	if !ok {
		return unknown
	}
	if known {
		return e.entries(maps, []string{key}, depth)
	}
	return e.entries(maps, unknown, depth)
}

// maps returns the values of a map that is a local variable, a package variable or a
// field of a struct, and every load of it, so that what is put into it is in sight.
func (e *eval) maps(x ssa.Value) ([]ssa.Value, bool) {
	if m, ok := x.(*ssa.MakeMap); ok {
		return []ssa.Value{m}, true
	}
	ld, ok := x.(*ssa.UnOp)
	if !ok || ld.Op != token.MUL {
		return nil, false
	}
	var stores []*ssa.Store
	switch a := ld.X.(type) {
	case *ssa.Global:
		stores = e.r.Pkg.GlobalStores(a)
	case *ssa.FieldAddr:
		for _, s := range e.r.Pkg.Stores(ir.FieldOf(a.X.Type(), a.Field)) {
			stores = append(stores, s.Store)
		}
	default:
		return nil, false
	}
	var out []ssa.Value
	for _, s := range stores {
		m, ok := s.Val.(*ssa.MakeMap)
		if !ok {
			return nil, false
		}
		out = append(out, m)
	}
	return append(out, e.loads(ld.X)...), true
}

// loads returns every load of the package variable or field behind addr.
func (e *eval) loads(addr ssa.Value) []ssa.Value {
	var out []ssa.Value
	for _, fn := range e.r.Pkg.Funcs {
		for _, b := range fn.Blocks {
			for _, in := range b.Instrs {
				if ld, ok := in.(*ssa.UnOp); ok && ld.Op == token.MUL && sameVariable(ld.X, addr) {
					out = append(out, ld)
				}
			}
		}
	}
	return out
}

func sameVariable(a, b ssa.Value) bool {
	fa, ok := a.(*ssa.FieldAddr)
	if !ok {
		return a == b
	}
	fb, ok := b.(*ssa.FieldAddr)
	return ok && ir.FieldOf(fa.X.Type(), fa.Field) == ir.FieldOf(fb.X.Type(), fb.Field)
}

// entries returns what is put into some maps under the keys, a hole among them standing
// for any.
func (e *eval) entries(maps []ssa.Value, keys []string, depth int) []string {
	var out []string
	for _, m := range maps {
		for _, in := range *m.Referrers() {
			switch in := in.(type) {
			case *ssa.MapUpdate:
				if in.Map == m {
					out = e.union(out, e.entry(in, keys, depth))
				}
			case *ssa.Lookup, *ssa.Range, *ssa.Store, *ssa.MakeInterface, *ssa.DebugRef:
			case *ssa.Call:
				if _, ok := in.Call.Value.(*ssa.Builtin); !ok {
					out = e.union(out, unknown) // somebody may add to it
				}
			default:
				out = e.union(out, unknown)
			}
		}
	}
	if out == nil {
		return unknown
	}
	return out
}

// entry returns what one assignment puts under the keys. In a loop over another map
// the value goes with its key.
func (e *eval) entry(u *ssa.MapUpdate, keys []string, depth int) []string {
	if slices.ContainsFunc(keys, func(k string) bool { return !Known(k) }) {
		return e.value(u.Value, nil, depth)
	}
	if x, ok := u.Key.(*ssa.Extract); ok {
		if n, ok := x.Tuple.(*ssa.Next); ok && x.Index == 1 {
			return e.looped(n, u.Value, keys, depth)
		}
	}
	for _, k := range e.value(u.Key, nil, depth) {
		if !Known(k) || slices.Contains(keys, k) {
			return e.value(u.Value, nil, depth)
		}
	}
	return nil
}

func (e *eval) looped(n *ssa.Next, v ssa.Value, keys []string, depth int) []string {
	if e.keys == nil {
		e.keys = map[*ssa.Next]string{}
	}
	defer delete(e.keys, n)
	var out []string
	for _, k := range keys {
		e.keys[n] = k
		out = e.union(out, e.value(v, nil, depth))
	}
	return out
}
