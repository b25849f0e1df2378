package engine

import (
	"cmp"
	"go/types"
	"slices"

	"github.com/fencelint/fence/analyzers/internal/summary"
)

// implementation is a method that does something, as it was summed up.
type implementation struct {
	f *types.Func
	s *summary.Func
}

// Join makes the methods of interfaces answerable: from now on a lookup of one
// is joined over all its implementations in the packages summed up. It reports
// whether Summary should run once more: the first summaries were made without
// knowing what those methods do, so a store behind two layers of interfaces was
// out of sight.
func (e *Env) Join() (again bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	again = e.impls == nil
	e.impls, e.joined = map[string][]implementation{}, map[*types.Func]*summary.Func{}
	for f, s := range e.funcs {
		if f.Type().(*types.Signature).Recv() != nil && !s.Empty() {
			e.impls[f.Name()] = append(e.impls[f.Name()], implementation{f, s})
		}
	}
	again = again && len(e.impls) > 0
	if e.alone == nil {
		e.alone = e.funcs
	}
	if again {
		e.summaries, e.funcs = map[*types.Package]*summary.Result{}, map[*types.Func]*summary.Func{}
	}
	for _, is := range e.impls {
		slices.SortFunc(is, func(a, b implementation) int {
			return cmp.Or(cmp.Compare(a.f.FullName(), b.f.FullName()), cmp.Compare(a.f.Pos(), b.f.Pos()))
		})
	}
	return again
}

func (e *Env) isJoined() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.impls != nil
}

func isInterfaceMethod(f *types.Func) bool {
	recv := f.Type().(*types.Signature).Recv()
	return recv != nil && types.IsInterface(recv.Type())
}

// join sums up an interface method over all methods of that name whose receiver
// implements the interface. An implementation that does nothing known (a fake, a
// no-op) does not count; the rest must agree, or nothing is known.
func (e *Env) join(m *types.Func) *summary.Func {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s, ok := e.joined[m]; ok {
		return s
	}
	e.joined[m] = nil
	iface, _ := m.Type().(*types.Signature).Recv().Type().Underlying().(*types.Interface)
	if iface == nil {
		return nil
	}
	var out *summary.Func
	for _, im := range e.impls[m.Name()] {
		t := im.f.Type().(*types.Signature).Recv().Type()
		if !types.Implements(t, iface) && !types.Implements(types.NewPointer(t), iface) {
			continue
		}
		out = summary.Join(out, im.s)
	}
	if out != nil && out.Empty() {
		out = nil
	}
	e.joined[m] = out
	return out
}
