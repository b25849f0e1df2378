package engine

import (
	"go/types"
	"slices"

	"github.com/fencelint/fence/analyzers/internal/summary"
)

// Join makes the methods of interfaces answerable: from now on a lookup of one
// is joined over all its implementations in the packages that were summed up.
func (e *Env) Join() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.impls = map[string][]*types.Func{}
	for f, s := range e.funcs {
		if f.Type().(*types.Signature).Recv() != nil && !s.Empty() {
			e.impls[f.Name()] = append(e.impls[f.Name()], f)
		}
	}
	for _, fs := range e.impls {
		slices.SortFunc(fs, func(a, b *types.Func) int {
			if a.FullName() != b.FullName() {
				if a.FullName() < b.FullName() {
					return -1
				}
				return 1
			}
			return int(a.Pos() - b.Pos())
		})
	}
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
	for _, f := range e.impls[m.Name()] {
		t := f.Type().(*types.Signature).Recv().Type()
		if !types.Implements(t, iface) && !types.Implements(types.NewPointer(t), iface) {
			continue
		}
		out = summary.Join(out, e.funcs[f])
	}
	if out != nil && out.Empty() {
		out = nil
	}
	e.joined[m] = out
	return out
}
