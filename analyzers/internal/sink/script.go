package sink

import (
	"fmt"
	"go/constant"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/lease"
	"github.com/fencelint/fence/analyzers/internal/origin"
	"github.com/fencelint/fence/analyzers/internal/script"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// scriptSite judges a script that Redis runs by what it compares on the way to
// its first write that compares no ownership. One that is out of sight is unclear.
func (r *Reader) scriptSite(s *Site) *Site {
	c := s.Call.Common()
	text := textOf(c, s.Spec)
	if p := passedOn(text); p != nil && p.Parent().Parent() == nil {
		if _, ok := r.wrapper(p.Parent()); ok {
			return nil
		}
	}
	s.Judge = Unclear
	s.Texts = r.scriptKey("KEYS[1]", Arg(c, s.Spec.Key))
	s.Target = show(s.Texts)
	if text == nil {
		return s
	}
	args, argsKnown := origin.Variadic(Arg(c, s.Spec.Args))
	var plain []script.Write
	for _, t := range r.Text.Texts(text) {
		if strings.Contains(t, sqlstmt.Hole) {
			return s
		}
		writes, err := script.Parse(t)
		if err != nil {
			return s
		}
		for _, w := range writes {
			if !w.Compared && (len(w.Args) == 0 || argsKnown && r.noOwner(w.Args, args)) {
				plain = append(plain, w)
			}
		}
	}
	if len(plain) == 0 {
		s.Judge = Compared
		return s
	}
	w := plain[0]
	s.Judge, s.Verb, s.Spec.Op = Plain, w.Command, Put
	if w.Remove {
		s.Spec.Op = Remove
	}
	s.Texts = r.scriptKey(w.Key, Arg(c, s.Spec.Key))
	s.Target = show(s.Texts)
	return s
}

// scriptKey returns the texts of a key of a script: a constant, or an element of
// the keys that are handed to it.
func (r *Reader) scriptKey(key string, keys ssa.Value) []string {
	n := 0
	if _, err := fmt.Sscanf(key, "KEYS[%d]", &n); err != nil {
		if key == "" {
			return nil
		}
		return []string{key}
	}
	vals, _ := origin.Variadic(keys)
	if n < 1 || n > len(vals) {
		return nil
	}
	return r.Text.Texts(vals[n-1])
}

// noOwner tells whether none of the numbered arguments can be an owner's identity
// or a token.
func (r *Reader) noOwner(numbers []int, args []ssa.Value) bool {
	for _, n := range numbers {
		if n < 1 || n > len(args) || !subject(args[n-1]) {
			return false
		}
	}
	return true
}

// subject tells whether v is known to name the thing that is worked on: a
// number in the code, or the id of a record that is neither a lock nor what this method is
// called on.
func subject(v ssa.Value) bool {
	for range 8 {
		switch x := v.(type) {
		case *ssa.Const:
			return x.Value != nil && x.Value.Kind() == constant.Int
		case *ssa.MakeInterface:
			v = x.X
		case *ssa.ChangeType:
			v = x.X
		case *ssa.Convert:
			v = x.X
		case *ssa.UnOp:
			fa, ok := x.X.(*ssa.FieldAddr)
			return ok && recordID(fa.X, fa.Field)
		case *ssa.Field:
			return recordID(x.X, x.Field)
		default:
			return false
		}
	}
	return false
}

func recordID(base ssa.Value, field int) bool {
	f, n := ir.FieldOf(base.Type(), field), ir.NamedOf(base.Type())
	if f == nil || n == nil || isReceiver(base) {
		return false
	}
	ws := lease.Words(f.Name())
	if len(ws) == 0 || ws[len(ws)-1] != "id" {
		return false
	}
	return !lease.IsHolderName(f.Name()) && !lease.IsTokenName(f.Name()) && !lease.Ownership.Has(f.Name(), n.Obj().Name())
}

func isReceiver(v ssa.Value) bool {
	p, ok := v.(*ssa.Parameter)
	return ok && p.Parent().Signature.Recv() != nil && p.Parent().Params[0] == p
}
