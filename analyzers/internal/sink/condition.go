package sink

import (
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/lease"
	"github.com/fencelint/fence/analyzers/internal/origin"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// unless judges a call that an option, or a method of the chain before it, may make
// conditional. What is out of sight may do so too.
func (r *Reader) unless(s *Site) Judgement {
	out := Plain
	look := func(v ssa.Value) {
		complete := r.Trace.Walk(v, func(v, filled ssa.Value) ([]ssa.Value, bool) {
			switch v := v.(type) {
			case *ssa.Call:
				obj := ir.Object(&v.Call)
				if obj == nil || filled != nil {
					out = max(out, Unclear)
					return nil, true
				}
				if obj.Name() == s.Spec.Unless {
					out = Compared
				}
				if obj.Name() == "Object" { // where a chain begins
					s.Texts = r.Text.Texts(Arg(&v.Call, 0))
					s.Target = show(s.Texts)
					return nil, true
				}
				if callee := ir.Callee(&v.Call); callee != nil && callee.Pkg == r.Pkg.SSA {
					return nil, false
				}
				if recv := Receiver(&v.Call); recv != nil {
					return []ssa.Value{recv}, true
				}
				return nil, true
			case *ssa.Parameter:
				if len(r.Pkg.Callers(v.Parent())) == 0 && out == Plain {
					out = Unclear // it may come with its condition
				}
			}
			return nil, false
		})
		if !complete && out == Plain {
			out = Unclear
		}
	}
	c := s.Call.Common()
	if s.Spec.Key < 0 {
		look(Receiver(c))
		return out
	}
	options := Arg(c, s.Spec.Key+1)
	if options == nil {
		return Plain
	}
	list, ok := origin.Variadic(options)
	if k, isConst := options.(*ssa.Const); isConst && k.Value == nil {
		return Plain
	}
	if !ok {
		return Unclear
	}
	for _, v := range list {
		look(v)
	}
	return out
}

// filteredSite judges a change of what a filter matches by the names in the filter:
// an owner, a token, a version or a state compares, the id alone does not.
func (r *Reader) filteredSite(s *Site) {
	c := s.Call.Common()
	s.Judge = Unclear
	s.Target = r.collection(Receiver(c))
	s.Spec.Op = Put
	if strings.Contains(s.Verb, "Delete") {
		s.Spec.Op = Remove
	}
	names, known := r.filterNames(plain(Arg(c, s.Spec.Input)))
	switch {
	case slices.ContainsFunc(names, compares):
		s.Judge = Compared
	case known && len(names) > 0:
		s.Judge = Plain
	}
}

// compares tells whether a field in a filter says who owns the document, or in what
// state it is.
func compares(name string) bool {
	return lease.IsHolderName(name) || lease.IsTokenName(name) || versionWords.Has(name) || lease.State.Has(name) ||
		lease.Expiry.Has(name) || lease.Ownership.Has(name) || strings.HasPrefix(name, "$")
}

// filterNames returns the fields that a filter names: the keys of a map, or of a
// list of key and value (bson.M, bson.D).
func (r *Reader) filterNames(v ssa.Value) (names []string, known bool) {
	switch x := v.(type) {
	case *ssa.MakeMap:
		known = true
		for _, u := range updates(x) {
			k, ok := constString(u.Key)
			if !ok {
				known = false
				continue
			}
			names = append(names, k)
		}
		return names, known
	case *ssa.Slice:
		return r.listNames(x)
	}
	return nil, false
}

// listNames reads a literal list of structs with a field Key.
func (r *Reader) listNames(list *ssa.Slice) (names []string, known bool) {
	elements, known := origin.Variadic(list)
	for _, e := range elements {
		ld, ok := e.(*ssa.UnOp)
		if !ok {
			return nil, false
		}
		root := origin.Root(r.Pkg, ld.X)
		if root == nil {
			return nil, false
		}
		keys := r.fieldValues(root, "Key")
		known = known && len(keys) == 1
		for _, k := range keys {
			texts := r.Text.Texts(k)
			known = known && len(texts) == 1 && !strings.Contains(texts[0], sqlstmt.Hole)
			names = append(names, texts...)
		}
	}
	return names, known && len(names) > 0
}

// collection returns the name that a collection was opened by, as far as known.
func (r *Reader) collection(v ssa.Value) string {
	name := ""
	r.Trace.Walk(v, func(v, filled ssa.Value) ([]ssa.Value, bool) {
		c, ok := v.(*ssa.Call)
		if !ok || filled != nil {
			return nil, filled != nil
		}
		if obj := ir.Object(&c.Call); obj != nil && obj.Name() == "Collection" {
			name = show(r.Text.Texts(Arg(&c.Call, 0)))
			return nil, true
		}
		return nil, false
	})
	return name
}
