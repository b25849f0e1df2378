package verdict

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/authority"
	"github.com/fencelint/fence/analyzers/internal/expiry"
	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/lease"
	"github.com/fencelint/fence/analyzers/internal/record"
	"github.com/fencelint/fence/analyzers/internal/sink"
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
					j.passedTime(in)
				case *ssa.BinOp:
					switch in.Op {
					case token.LSS, token.GTR, token.LEQ, token.GEQ:
						j.numbers(in)
					}
				}
			}
		}
		for _, b := range j.Expiry.In(fn) {
			if j.isNow(b.Value) {
				j.reportBound(b.Pos, b.What, "", b.Value)
			}
		}
	}
}

// isNow tells whether a value is this process's time and not a stored one moved
// by it.
func (j *judge) isNow(v ssa.Value) bool {
	return j.Clock.Of(v).Now && len(j.Record.Of(v)) == 0
}

// passedTime looks at a call of a function that binds the time it is given to an
// expiry in a store.
func (j *judge) passedTime(c *ssa.Call) {
	callee := ir.Callee(&c.Call)
	if callee != nil && callee.Pkg == j.Pkg.SSA {
		return // the walk from the binding comes here by itself
	}
	obj := ir.Object(&c.Call)
	if obj == nil {
		return
	}
	s := j.in.Lookup.Func(obj)
	if s == nil {
		return
	}
	for _, i := range s.Ages {
		if a := sink.Arg(&c.Call, i); a != nil && j.wallClock(c, a, nil) {
			return
		}
	}
	for _, b := range s.Binds {
		if a := sink.Arg(&c.Call, b.Param); a != nil && j.isNow(a) {
			j.reportBound(c.Pos(), b.What, fmt.Sprintf(" in %s (%s%s)", authority.FuncName(obj), b.At, s.Mark()), a)
			return
		}
	}
}

// watchWords start or end the names of functions that only tell people how
// things are.
var watchWords = lease.Set{"stats": true, "stat": true, "metrics": true, "metric": true, "status": true, "statistics": true,
	"report": true, "gauge": true, "dashboard": true, "debug": true, "string": true, "describe": true}

// viewers are types that show things to people.
var viewers = lease.Set{"inspector": true, "dashboard": true, "metrics": true, "collector": true, "exporter": true}

// watches tells whether a function, by its name, decides nothing.
func watches(fn *ssa.Function) bool {
	top := ir.Top(fn)
	if recv := top.Signature.Recv(); recv != nil {
		if n := ir.NamedOf(recv.Type()); n != nil && viewers.Has(n.Obj().Name()) {
			return true
		}
	}
	return watchWords.Has(top.Name()) && !lease.Ownership.Has(top.Name())
}

func isInt(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&(types.IsInteger|types.IsFloat) != 0
}

func isDuration(t types.Type) bool { return ir.IsNamed(t, "time", "Duration") }

// numbers looks at an ordered comparison of numbers made of times: directly, or
// of their difference.
func (j *judge) numbers(b *ssa.BinOp) {
	if !isInt(b.X.Type()) || isDuration(b.X.Type()) {
		return
	}
	for _, v := range []ssa.Value{b.X, b.Y} {
		if c, ok := v.(*ssa.Convert); ok {
			v = c.X
		}
		if d, ok := v.(*ssa.BinOp); ok && d.Op == token.SUB {
			j.comparison(b, d.X, d.Y)
			return
		}
	}
	j.comparison(b, b.X, b.Y)
}

// timeCall looks at the comparing methods of time.Time and at ages.
func (j *judge) timeCall(c *ssa.Call) {
	obj := ir.Object(&c.Call)
	if obj == nil || obj.Pkg() == nil {
		return
	}
	recv := obj.Type().(*types.Signature).Recv()
	if obj.Pkg().Path() != "time" {
		if recv != nil && obj.Pkg().Path() == "k8s.io/apimachinery/pkg/apis/meta/v1" && (obj.Name() == "Before") && len(c.Call.Args) == 2 {
			j.comparison(c, c.Call.Args[0], c.Call.Args[1])
		}
		return
	}
	switch {
	case recv == nil && (obj.Name() == "Since" || obj.Name() == "Until"):
		if decides(c, 0) || obj.Name() == "Until" && returned(c) {
			j.comparison(c, nil, c.Call.Args[0])
		}
	case recv == nil || len(c.Call.Args) != 2:
	case obj.Name() == "After" || obj.Name() == "Before" || obj.Name() == "Compare":
		j.comparison(c, c.Call.Args[0], c.Call.Args[1])
	case obj.Name() == "Sub" && (decides(c, 0) || returned(c)):
		j.comparison(c, c.Call.Args[0], c.Call.Args[1])
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
func (j *judge) comparison(at ssa.Instruction, x, y ssa.Value) {
	if j.wallClock(at, y, x) {
		return
	}
	if x != nil {
		j.wallClock(at, x, y)
	}
}

// expiry reports if stored is an ownership expiry of another process and now is
// this process's clock (nil: it is).
func (j *judge) wallClock(at ssa.Instruction, stored, now ssa.Value) bool {
	if now != nil {
		if len(j.Record.Of(now)) > 0 || !j.Clock.Of(now).Now {
			return false
		}
	}
	for _, d := range j.Record.Of(stored) {
		if why, ok := j.Expiry.Owns(d, at); ok {
			j.reportExpiry(at, d, why)
			return true
		}
	}
	return j.stripped(at, stored)
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
	stores := j.Pkg.Stores(f)
	if !j.ownDeadline(n, f, stores) {
		return false
	}
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

// ownDeadline tells whether a field of this process keeps the end of something it
// owns: declared so, by a word of ownership, or set where a lock is taken.
func (j *judge) ownDeadline(n *types.Named, f *types.Var, stores []ir.FieldStore) bool {
	names := []string{f.Name(), n.Obj().Name()}
	switch {
	case j.Policy.ExpiryField(n, f):
		return true
	case lease.Foreign.Has(names...) && !expiry.Strong.Has(names...):
		return false
	case lease.Ownership.Has(names...):
		return true
	case !lease.Expiry.Has(f.Name()):
		return false
	}
	if j.Authority.OwnerStruct(n) {
		return true
	}
	return slices.ContainsFunc(stores, func(s ir.FieldStore) bool { return j.takesLock(s.Store.Parent()) })
}

// takesLock tells whether a function calls something that takes or renews a lock.
func (j *judge) takesLock(fn *ssa.Function) bool {
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			c, ok := in.(ssa.CallInstruction)
			if !ok {
				continue
			}
			if l, ok := lease.Find(ir.Object(c.Common())); ok && (l.Kind == lease.Acquire || l.Kind == lease.Renew) {
				return true
			}
			if s, ok := j.Sink.Spec(c.Common()); ok && s.Op == sink.Claim {
				return true
			}
			if call, ok := in.(*ssa.Call); ok && j.Authority.Claims(call) {
				return true
			}
		}
	}
	return false
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

func (j *judge) reportBound(pos token.Pos, what, where string, v ssa.Value) {
	j.out = append(j.out, Verdict{
		Check: WallClockExpiry, Pos: pos, Resource: what,
		Message: fmt.Sprintf("%s was written by other processes and is compared%s with this process's clock, bound as a parameter: a clock that runs ahead expires an owner that is alive, which then writes beside its successor; compare with the store's own clock (now()) instead",
			what, where),
		Related: timeOf(v),
	})
}

func timeOf(v ssa.Value) []Related {
	if v.Pos().IsValid() {
		return []Related{{v.Pos(), "this process's time comes from here"}}
	}
	return nil
}
