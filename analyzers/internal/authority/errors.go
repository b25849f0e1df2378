package authority

// This file finds evidence in an error that is nil.

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/lease"
	"github.com/fencelint/fence/analyzers/internal/sink"
)

func isError(t types.Type) bool {
	return types.Identical(t, types.Universe.Lookup("error").Type())
}

// proveNil returns the evidence that follows from the error v being nil.
func (r *Reader) proveNil(v ssa.Value, depth int) []Evidence {
	if depth > maxProve {
		return nil
	}
	switch v := v.(type) {
	case *ssa.Call:
		return r.proveNilCall(v, 0)
	case *ssa.Extract:
		if c, ok := v.Tuple.(*ssa.Call); ok {
			return r.proveNilCall(c, v.Index)
		}
	case *ssa.Phi:
		var out []Evidence
		for _, e := range v.Edges {
			if isNil(e) {
				return nil
			}
			evs := r.proveNil(e, depth+1)
			if len(evs) == 0 && !nonNil(e) {
				return nil
			}
			out = append(out, evs...)
		}
		return out
	case *ssa.UnOp:
		// A named or captured error variable: what was stored last in this block.
		if v.Op == token.MUL {
			if st := lastStore(v); st != nil {
				return r.proveNil(st.Val, depth+1)
			}
		}
	}
	return nil
}

// lastStore returns the store into the same variable that reaches ld on the only
// way there, or nil.
func lastStore(ld *ssa.UnOp) *ssa.Store {
	b := ld.Block()
	i := slices.Index(b.Instrs, ssa.Instruction(ld))
	for range maxProve {
		for i--; i >= 0; i-- {
			if st, ok := b.Instrs[i].(*ssa.Store); ok && st.Addr == ld.X {
				return st
			}
		}
		if len(b.Preds) != 1 {
			return nil
		}
		b = b.Preds[0]
		i = len(b.Instrs)
	}
	return nil
}

// nonNil tells whether an error is certainly not nil: made here, or a variable
// that holds one.
func nonNil(v ssa.Value) bool {
	switch v := v.(type) {
	case *ssa.MakeInterface:
		return true
	case *ssa.UnOp:
		_, ok := v.X.(*ssa.Global)
		return ok
	case *ssa.Call:
		if obj := ir.Object(&v.Call); obj != nil {
			switch obj.FullName() {
			case "errors.New", "fmt.Errorf":
				return true
			}
		}
	}
	return false
}

// fetches are methods that run a statement and fill a value from its row.
var fetches = map[string]bool{"Get": true, "GetContext": true}

func (r *Reader) proveNilCall(c *ssa.Call, result int) []Evidence {
	obj := ir.Object(&c.Call)
	if l, ok := lease.Find(obj); ok {
		if (l.Kind == lease.Acquire || l.Kind == lease.Check) && l.Proof == lease.NilError {
			return []Evidence{r.acquired(c)}
		}
		return nil
	}
	if s, ok := r.Sink.Spec(&c.Call); ok && s.Store == sink.SQL {
		if site := r.Sink.Site(c); site != nil {
			if ev, ok := r.advisory(c, site); ok && !slices.Contains(funcsOf(site), "pg_try_advisory_lock") && !slices.Contains(funcsOf(site), "get_lock") {
				return []Evidence{ev}
			}
			if fetches[obj.Name()] { // sqlx: no error means that there is a row
				if ev, ok := r.claim(c); ok {
					return []Evidence{ev}
				}
			}
		}
		return nil
	}
	if ev, ok := r.setIfAbsent(c, obj); ok {
		return []Evidence{ev}
	}
	if ev, ok := r.created(c); ok {
		return []Evidence{ev}
	}
	if obj != nil && obj.Name() == "Scan" && len(c.Call.Args) > 0 {
		return r.scanned(c)
	}
	if evs := r.fromFunc(c, result, lease.NilError); evs != nil {
		return evs
	}
	return r.fromFunc(c, result, lease.Free)
}
