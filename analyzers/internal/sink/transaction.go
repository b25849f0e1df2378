package sink

import (
	"go/constant"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/origin"
)

// transactionSite judges a transaction of a key-value store by its conditions: one
// is as good as another, and one that may be out of sight counts.
func (r *Reader) transactionSite(s *Site) {
	s.Judge = Compared
	switch s.Spec.Store {
	case Etcd:
		r.etcdTxn(s)
	case Consul:
		r.consulTxn(s)
	}
}

const etcdPath = "go.etcd.io/etcd/client/v3"

// etcdTxn: Commit ends a chain of If, Then and Else. Without an If what Then puts
// is put whatever is there.
func (r *Reader) etcdTxn(s *Site) {
	conditional, puts := false, false
	look := func(c *ssa.Call) {
		switch ir.Object(&c.Call).Name() {
		case "If":
			conditional = true
		case "Then":
			puts = r.Pkg.Calls("OpPut") || r.Pkg.Calls("OpDelete")
		}
	}
	complete := r.Trace.Walk(s.Handle, func(v, out ssa.Value) ([]ssa.Value, bool) {
		c, ok := v.(*ssa.Call)
		if !ok || out != nil {
			return nil, out != nil
		}
		obj := ir.Object(&c.Call)
		if obj == nil || obj.Pkg() == nil || obj.Pkg().Path() != etcdPath {
			conditional = true // a function that hands out a transaction may have begun it
			return nil, false
		}
		look(c)
		if obj.Name() == "Txn" {
			return nil, true
		}
		return []ssa.Value{Receiver(&c.Call)}, true
	})
	if complete && !conditional && puts {
		s.Judge, s.Spec.Op = Plain, Put
	}
}

// consulWrites are the operations of a Consul transaction that compare nothing;
// all others check an index, a session or a lock, and fail the whole transaction.
var consulWrites = map[string]bool{"set": true, "delete": true, "delete-tree": true, "get": true, "get-tree": true, "get-or-empty": true}

// consulTxn: the transaction compares unless every one of its operations is known
// and none does.
func (r *Reader) consulTxn(s *Site) {
	ops, known := r.list(Arg(s.Call.Common(), s.Spec.Key))
	if !known || len(ops) == 0 {
		return
	}
	for _, op := range ops {
		verb, ok := r.consulVerb(op)
		if !ok || !consulWrites[verb] {
			return
		}
	}
	s.Judge, s.Spec.Op = Plain, Put
}

// consulVerb returns what an operation does: the constant Verb of its KV part.
func (r *Reader) consulVerb(op ssa.Value) (string, bool) {
	root := origin.Root(r.Pkg, op)
	if root == nil {
		return "", false
	}
	for _, kv := range r.fieldValues(root, "KV") {
		part := origin.Root(r.Pkg, kv)
		if part == nil {
			return "", false
		}
		for _, v := range r.fieldValues(part, "Verb") {
			if c, ok := v.(*ssa.Const); ok && c.Value != nil && c.Value.Kind() == constant.String {
				return constant.StringVal(c.Value), true
			}
		}
	}
	return "", false
}

// list returns the elements of a slice that this function makes: a literal, or what
// it appends, once for all rounds of a loop.
func (r *Reader) list(v ssa.Value) (elements []ssa.Value, known bool) {
	known = true
	complete := r.Trace.Walk(v, func(v, out ssa.Value) ([]ssa.Value, bool) {
		if out != nil {
			known = false
			return nil, true
		}
		switch v := v.(type) {
		case *ssa.Call:
			if b, ok := v.Call.Value.(*ssa.Builtin); ok && b.Name() == "append" {
				more, ok := origin.Variadic(v.Call.Args[1])
				if !ok {
					return v.Call.Args, true // append(a, b...)
				}
				elements = append(elements, more...)
				return v.Call.Args[:1], true
			}
			if callee := ir.Callee(&v.Call); callee == nil || callee.Pkg != r.Pkg.SSA {
				known = false
				return nil, true
			}
		case *ssa.Slice:
			more, ok := origin.Variadic(v)
			known = known && ok
			elements = append(elements, more...)
			return nil, true
		case *ssa.MakeSlice, *ssa.Const:
			return nil, true
		case *ssa.Parameter:
			known = known && len(r.Pkg.Callers(v.Parent())) > 0
		case *ssa.FieldAddr, *ssa.Global, *ssa.Lookup:
			known = false
			return nil, true
		}
		return nil, false
	})
	return elements, known && complete
}
