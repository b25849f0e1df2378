package summary

import (
	"slices"

	"golang.org/x/tools/go/ssa"
)

// reach remembers what functions do through the functions they call. Functions
// that call each other in a circle do the same, whichever is asked first.
type reach[T any] struct {
	done map[*ssa.Function]T
	open map[*ssa.Function]*visit[T] // being computed, or waiting for their circle
	path []*ssa.Function             // the keys of open, in the order of their start
}

type visit[T any] struct {
	low     int // the first function of path that this one leads back to
	running bool
	value   T // as far as known
}

// of returns what compute, which asks of again for what fn calls, says of fn.
func (m *reach[T]) of(fn *ssa.Function, compute func() T) T {
	if v, ok := m.done[fn]; ok {
		return v
	}
	if m.open == nil {
		m.done, m.open = map[*ssa.Function]T{}, map[*ssa.Function]*visit[T]{}
	}
	if v := m.open[fn]; v != nil {
		m.leadsTo(v.low)
		return v.value
	}
	start := len(m.path)
	v := &visit[T]{low: start, running: true}
	m.open[fn] = v
	m.path = append(m.path, fn)
	v.value = compute()
	v.running = false
	if v.low < start {
		m.leadsTo(v.low)
		return v.value
	}
	for _, f := range m.path[start:] {
		m.done[f] = v.value
		delete(m.open, f)
	}
	m.path = m.path[:start]
	return v.value
}

// leadsTo notes that the innermost function that is being computed leads back to
// number low of the path.
func (m *reach[T]) leadsTo(low int) {
	for _, f := range slices.Backward(m.path) {
		if v := m.open[f]; v.running {
			v.low = min(v.low, low)
			return
		}
	}
}
