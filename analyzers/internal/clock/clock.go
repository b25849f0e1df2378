// Package clock answers one question: what kind of time is this value?
package clock

import (
	"go/constant"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/origin"
)

// Time is what is known about where a time, or a number made of one, comes from.
type Time struct {
	Now      bool      // this process's clock is among its origins
	Stripped bool      // and the monotonic reading was dropped on the way
	StripAt  token.Pos // where
}

// Reader tells times of one package.
type Reader struct {
	Trace *origin.Tracer
	// Clock tells whether f, a function of another package or one that fence.yaml
	// names, returns this process's time; wall: without a monotonic reading.
	Clock func(f *types.Func) (wall, ok bool)

	memo map[ssa.Value]Time
}

// strip are the methods of time.Time that drop the monotonic reading
// (documentation of package time). Round and Truncate are listed with the rest:
// both drop it for any argument.
var strip = map[string]bool{
	"UTC": true, "In": true, "Local": true, "Round": true, "Truncate": true, "AddDate": true,
	"Unix": true, "UnixNano": true, "UnixMilli": true, "UnixMicro": true,
}

// keep are the methods and functions whose result is a time made of their first
// argument. time.Unix and its like make a wall time.
var keep = map[string]bool{"Add": true}

// Of walks back from v.
func (r *Reader) Of(v ssa.Value) Time {
	if t, ok := r.memo[v]; ok {
		return t
	}
	t := r.of(v)
	if r.memo == nil {
		r.memo = map[ssa.Value]Time{}
	}
	r.memo[v] = t
	return t
}

func (r *Reader) of(v ssa.Value) Time {
	var t Time
	var strippedAt token.Pos
	r.Trace.Walk(v, func(v, out ssa.Value) ([]ssa.Value, bool) {
		if out != nil {
			return nil, true // filled by a call: not this process's clock
		}
		switch v := v.(type) {
		case *ssa.BinOp:
			if v.Op == token.ADD || v.Op == token.SUB || v.Op == token.MUL || v.Op == token.QUO {
				return []ssa.Value{v.X, v.Y}, true
			}
		case *ssa.Call:
			return r.call(v, &t, &strippedAt)
		case *ssa.UnOp:
			return r.wrapped(v)
		case *ssa.Field:
			if wrapsTime(v.X.Type()) {
				return []ssa.Value{v.X}, true
			}
		case *ssa.FieldAddr:
			if wrapsTime(v.X.Type()) {
				return []ssa.Value{v.X}, true
			}
		}
		return nil, false
	})
	if t.Now && strippedAt.IsValid() {
		t.Stripped, t.StripAt = true, strippedAt
	}
	return t
}

// wrapped goes from a struct literal around a time, such as sql.NullTime{Time: t,
// Valid: true}, to the time.
func (r *Reader) wrapped(ld *ssa.UnOp) ([]ssa.Value, bool) {
	if ld.Op != token.MUL || isTime(ld.Type()) {
		return nil, false
	}
	if _, ok := ld.Type().Underlying().(*types.Struct); !ok {
		return nil, false
	}
	root := origin.Root(r.Trace.Pkg, ld.X)
	if root == nil {
		return nil, false
	}
	var out []ssa.Value
	for _, in := range *root.Referrers() {
		fa, ok := in.(*ssa.FieldAddr)
		if !ok {
			continue
		}
		for _, use := range *fa.Referrers() {
			if st, ok := use.(*ssa.Store); ok && st.Addr == fa && isTime(st.Val.Type()) {
				out = append(out, st.Val)
			}
		}
	}
	return out, len(out) > 0
}

// wrapsTime tells whether t is one of Kubernetes' types around a time, made from
// this process's clock by metav1.Now and its like.
func wrapsTime(t types.Type) bool {
	return ir.IsNamed(t, "k8s.io/apimachinery/pkg/apis/meta/v1", "Time") || ir.IsNamed(t, "k8s.io/apimachinery/pkg/apis/meta/v1", "MicroTime")
}

func isTime(t types.Type) bool { return ir.IsNamed(t, "time", "Time") }

func (r *Reader) call(c *ssa.Call, t *Time, strippedAt *token.Pos) ([]ssa.Value, bool) {
	obj := ir.Object(&c.Call)
	if obj == nil {
		if r.isClockValue(c) {
			t.Now = true
			return nil, true
		}
		return nil, false
	}
	if obj.Pkg() != nil && obj.Pkg().Path() == "time" {
		recv := obj.Type().(*types.Signature).Recv()
		switch {
		case recv == nil && obj.Name() == "Now":
			t.Now = true
			return nil, true
		case recv == nil && (obj.Name() == "Unix" || obj.Name() == "UnixMilli" || obj.Name() == "UnixMicro"):
			*strippedAt = c.Pos()
			return c.Call.Args, true
		case recv != nil && keep[obj.Name()]:
			return c.Call.Args[:1], true
		case recv != nil && strip[obj.Name()]:
			*strippedAt = c.Pos()
			return c.Call.Args[:1], true
		}
		return nil, true
	}
	if r.Clock != nil {
		if wall, ok := r.Clock(obj); ok {
			t.Now = true
			if wall {
				*strippedAt = c.Pos()
			}
			return nil, true
		}
	}
	if isWrap[obj.FullName()] {
		*strippedAt = c.Pos()
		if len(c.Call.Args) > 0 {
			return c.Call.Args, true
		}
		t.Now = true
		return nil, true
	}
	if c.Call.IsInvoke() && isNow(obj) {
		t.Now = true
		return nil, true
	}
	return nil, false
}

// isWrap are functions of well-known packages that put a time into another type
// (or, without an argument, take the time themselves).
var isWrap = map[string]bool{
	"k8s.io/apimachinery/pkg/apis/meta/v1.NewTime": true, "k8s.io/apimachinery/pkg/apis/meta/v1.NewMicroTime": true,
	"k8s.io/apimachinery/pkg/apis/meta/v1.Now": true, "k8s.io/apimachinery/pkg/apis/meta/v1.NowMicro": true,
	"google.golang.org/protobuf/types/known/timestamppb.New": true, "google.golang.org/protobuf/types/known/timestamppb.Now": true,
}

// isNow tells whether an interface method is an injected clock's Now.
func isNow(f *types.Func) bool {
	sig := f.Type().(*types.Signature)
	return f.Name() == "Now" && sig.Params().Len() == 0 && sig.Results().Len() == 1 &&
		ir.IsNamed(sig.Results().At(0).Type(), "time", "Time")
}

// isClockValue tells whether a call of a function value is an injected clock: a
// field or variable of type func() time.Time called now, timeNow, nowFunc or clock.
func (r *Reader) isClockValue(c *ssa.Call) bool {
	sig := c.Call.Signature()
	if sig.Params().Len() != 0 || sig.Results().Len() != 1 || !ir.IsNamed(sig.Results().At(0).Type(), "time", "Time") {
		return false
	}
	ld, ok := c.Call.Value.(*ssa.UnOp)
	if !ok {
		return false
	}
	switch a := ld.X.(type) {
	case *ssa.FieldAddr:
		f := ir.FieldOf(a.X.Type(), a.Field)
		return f != nil && clockNames[f.Name()]
	case *ssa.Global:
		return clockNames[a.Name()]
	}
	return false
}

var clockNames = map[string]bool{
	"now": true, "Now": true, "timeNow": true, "TimeNow": true, "nowFn": true, "NowFn": true,
	"nowFunc": true, "NowFunc": true, "clock": true, "Clock": true, "getNow": true,
}

// IsZero tells whether v is the zero time or a constant, which decides nothing.
func IsZero(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && (c.Value == nil || c.Value.Kind() == constant.Int && constant.Sign(c.Value) == 0)
}
