package sink

// This file judges writes to Kubernetes by the resourceVersion that they carry.

import (
	"go/constant"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/origin"
)

// kubernetesSite: an Update carries the resourceVersion of the object it was
// given, so it is plain only for an object made here without one.
func (r *Reader) kubernetesSite(s *Site) {
	obj := s.Object
	s.Target = kindOf(obj)
	switch ir.Object(s.Call.Common()).Name() {
	case "Get":
		s.Judge = NotAWrite
		return
	case "Create", "Delete":
		s.Judge, s.StrictOnly = Plain, true
		if r.hasPreconditions(s.Call.Common()) {
			s.Judge = Compared
		}
		return
	case "Patch":
		s.Judge, s.StrictOnly = Plain, true
		s.Target = receiverKind(s.Call.Common())
		if body := Arg(s.Call.Common(), 3); body != nil && r.mentions(body, "resourceVersion") {
			s.Judge = Compared
		}
		return
	}
	s.Judge = Compared
	root := origin.Root(r.Pkg, obj)
	if root == nil || root.Comment != "complit" {
		return
	}
	for _, in := range *root.Referrers() {
		fa, ok := in.(*ssa.FieldAddr)
		if !ok {
			continue
		}
		if f := ir.FieldOf(fa.X.Type(), fa.Field); f != nil && f.Name() == "ObjectMeta" && !r.literalMeta(fa) {
			return
		}
	}
	s.Judge = Plain
}

// literalMeta tells whether metadata made in place sets no resourceVersion.
func (r *Reader) literalMeta(meta ssa.Value) bool {
	for _, in := range *meta.Referrers() {
		switch in := in.(type) {
		case *ssa.FieldAddr:
			if f := ir.FieldOf(in.X.Type(), in.Field); f != nil && f.Name() == "ResourceVersion" {
				return false
			}
		case *ssa.Store:
			ld, ok := in.Val.(*ssa.UnOp)
			if !ok || in.Addr != meta {
				return false
			}
			lit, ok := ld.X.(*ssa.Alloc)
			if !ok || lit.Comment != "complit" || !r.literalMeta(lit) {
				return false // copied from elsewhere
			}
		}
	}
	return true
}

// hasPreconditions tells whether the delete options name a version.
func (r *Reader) hasPreconditions(c *ssa.CallCommon) bool {
	for _, a := range c.Args {
		if ir.IsNamed(a.Type(), "k8s.io/apimachinery/pkg/apis/meta/v1", "DeleteOptions") {
			if _, isConst := a.(*ssa.Const); isConst {
				return false
			}
			ld, ok := a.(*ssa.UnOp)
			if !ok {
				return true
			}
			root := origin.Root(r.Pkg, ld.X)
			return root == nil || len(r.fieldValues(root, "Preconditions")) > 0
		}
	}
	return false
}

func (r *Reader) mentions(v ssa.Value, word string) bool {
	found := false
	complete := r.Trace.Walk(v, func(v, out ssa.Value) ([]ssa.Value, bool) {
		switch v := v.(type) {
		case *ssa.Const:
			if mentionsWord(v, word) {
				found = true
			}
		case *ssa.Call:
			if out == nil && len(v.Call.Args) > 0 {
				return v.Call.Args, true
			}
		case *ssa.MakeMap:
			var values []ssa.Value
			for _, u := range updates(v) {
				if k, ok := constString(u.Key); ok && strings.Contains(k, word) {
					found = true
				}
				values = append(values, u.Value)
			}
			return values, len(values) > 0
		}
		return nil, false
	})
	return found || !complete
}

func mentionsWord(c *ssa.Const, word string) bool {
	return c.Value != nil && c.Value.Kind() == constant.String && strings.Contains(constant.StringVal(c.Value), word)
}

func kindOf(v ssa.Value) string {
	if v == nil {
		return ""
	}
	if n := ir.NamedOf(v.Type()); n != nil {
		return n.Obj().Name()
	}
	return "object"
}

func receiverKind(c *ssa.CallCommon) string {
	if n := ir.NamedOf(Receiver(c).Type()); n != nil {
		return strings.TrimSuffix(n.Obj().Name(), "Interface")
	}
	return "object"
}
