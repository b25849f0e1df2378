package verdict

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/resource"
	"github.com/fencelint/fence/analyzers/internal/sink"
)

// declaredWrite judges a call that fence.yaml names as a write of a resource: the
// catalogue says whether the call carries a condition. Where the key decides and is
// handed in, the callers are judged in its place.
func (j *judge) declaredWrite(call ssa.CallInstruction, s *sink.Site) {
	if s.Spec.Store == sink.Declared && s.Judge == sink.Compared {
		j.writes = append(j.writes, Write{Pos: call.Pos(), Verb: s.Verb, Target: j.Policy.FencedResource(ir.Object(call.Common())), Why: "the call compares by itself, says fence.yaml"})
		return
	}
	names := j.namesOf(call)
	if !j.declared(names, nil) {
		return
	}
	if key := j.Sink.KeyOf(s); key != nil && j.Policy.ByKey(names) {
		if p := sink.StartsWith(key); p != nil && len(j.Pkg.Callers(p.Parent())) > 0 {
			for _, by := range j.Pkg.Callers(p.Parent()) {
				j.judgeDeclared(by, names, j.Text.TextsAt(key, by), s)
			}
			return
		}
	}
	j.judgeDeclared(call, names, s.Texts, s)
}

// declared tells whether one of the names is a write of one of the keys.
func (j *judge) declared(names, keys []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { _, ok := j.Policy.WriteTo(n, keys); return ok })
}

func (j *judge) judgeDeclared(call ssa.CallInstruction, names, keys []string, s *sink.Site) {
	i := slices.IndexFunc(names, func(n string) bool { _, ok := j.Policy.WriteTo(n, keys); return ok })
	if i < 0 {
		return
	}
	name, _ := j.Policy.WriteTo(names[i], keys)
	w := Write{Pos: call.Pos(), Verb: shortName(names[i]), Target: name}
	switch s.Judge {
	case sink.Compared:
		w.Why = "its condition"
	case sink.Unclear:
		w.Outcome, w.Why = Unproven, "its condition is out of sight"
	case sink.Plain:
		if optimistic(s.Call.Parent()) {
			w.Why = "an optimistic transaction"
			break
		}
		if j.isLease(call.Parent()) {
			w.Why = partOfLease
			break
		}
		w.Outcome, w.Why = Unfenced, "carries no condition"
	default:
		return
	}
	j.writes = append(j.writes, w)
	if w.Outcome == Unfenced || w.Outcome == Unproven && j.in.Strict {
		j.reportUnfenced(call, w, nil, "")
	}
}

// namedWrite judges a call that no catalogue knows: of a function value that
// fence.yaml names as a write, or of a method by the type that embeds it.
func (j *judge) namedWrite(call ssa.CallInstruction) {
	if obj := ir.Object(call.Common()); obj != nil && slices.Contains(etcdTransaction, resource.FuncKey(obj)) {
		return // judged where it is committed
	}
	names := j.namesOf(call)
	if v, ok := j.Policy.FuncValue(call.Common()); ok {
		names = append(names, v)
	}
	if j.declared(names, nil) {
		j.judgeDeclared(call, names, nil, &sink.Site{Call: call, Judge: sink.Plain})
	}
}

// etcdTransaction are the names that stand for a whole transaction of etcd, which is
// judged where it is committed.
var etcdTransaction = []string{"go.etcd.io/etcd/client/v3.KV.Txn", "go.etcd.io/etcd/client/v3.Client.Txn"}

// namesOf returns the names by which fence.yaml may mean a call, as in go doc: its
// method's own, those by the types that embed it, and the package variable of a script.
func (j *judge) namesOf(call ssa.CallInstruction) []string {
	c := call.Common()
	obj := ir.Object(c)
	if obj == nil {
		return nil
	}
	names := []string{resource.FuncKey(obj)}
	if obj.Name() == "Commit" && strings.HasPrefix(names[0], "go.etcd.io/etcd/client/v3.") {
		names = append(names, etcdTransaction...)
	}
	for v := sink.Receiver(c); v != nil; {
		switch x := v.(type) {
		case *ssa.UnOp:
			v = x.X
			continue
		case *ssa.Global:
			if sp, ok := j.Sink.Spec(c); ok && sp.Op == sink.Script && x.Pkg != nil {
				names = append(names, x.Pkg.Pkg.Path()+"."+x.Name())
			}
		case *ssa.FieldAddr:
			if f := ir.FieldOf(x.X.Type(), x.Field); f != nil && f.Embedded() {
				names = append(names, method(x.X.Type(), obj)...)
				v = x.X
				continue
			}
		case *ssa.Field:
			if f := ir.FieldOf(x.X.Type(), x.Field); f != nil && f.Embedded() {
				names = append(names, method(x.X.Type(), obj)...)
				v = x.X
				continue
			}
		}
		break
	}
	return names
}

// method names obj as a method of t.
func method(t types.Type, obj *types.Func) []string {
	n := ir.NamedOf(t)
	if n == nil || n.Obj().Pkg() == nil {
		return nil
	}
	return []string{n.Obj().Pkg().Path() + "." + n.Obj().Name() + "." + obj.Name()}
}

// shortName cuts a name as in go doc down to Type.Method.
func shortName(name string) string {
	name = name[strings.LastIndexByte(name, '/')+1:]
	_, rest, ok := strings.Cut(name, ".")
	if !ok {
		return name
	}
	return rest
}
