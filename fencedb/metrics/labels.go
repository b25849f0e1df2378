package metrics

import (
	"context"
	"slices"
	"strings"
	"sync"
)

// labels are the values of open labels that are told apart.
type labels struct {
	mu    sync.RWMutex
	known map[string]map[string]bool // by the label's name
}

// of returns the value by which l shows v, and whether it is the first time.
func (s *labels) of(l Label, v string) (value string, first bool) {
	if !l.Open() {
		if !slices.Contains(l.Values, v) {
			return Other, false
		}
		return v, false
	}
	s.mu.RLock()
	seen := s.known[l.Name][v]
	s.mu.RUnlock()
	if seen {
		return v, false
	}
	return s.take(l, strings.ToValidUTF8(v, "\uFFFD"))
}

func (s *labels) take(l Label, v string) (value string, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	values := s.known[l.Name]
	if values == nil {
		values = map[string]bool{}
		if s.known == nil {
			s.known = map[string]map[string]bool{}
		}
		s.known[l.Name] = values
	}
	switch {
	case values[v]:
		return v, false
	case len(values) >= MaxValues:
		if values[Other] {
			return Other, false
		}
		v = Other
	}
	values[v] = true
	return v, true
}

// value is of for a label that counters have: at the first sight of a value they start at 0
// for it. What was never there cannot be seen to rise: a counter that comes up at 1 gives
// Prometheus an increase of 0.
func (r *Recorder) value(ctx context.Context, l Label, v string) string {
	value, first := r.labels.of(l, v)
	if first {
		r.startAtZero(ctx, l.Name, value)
	}
	return value
}

// startAtZero adds 0 to every counter that has the open label of this name and no other, or
// none if the name is empty.
func (r *Recorder) startAtZero(ctx context.Context, open, value string) {
	for id, m := range catalogue {
		if m.Kind != Counter {
			continue
		}
		at, name, closed := openLabel(m.Labels)
		if name != open {
			continue
		}
		values := make([]string, len(m.Labels))
		if at >= 0 {
			values[at] = value
		}
		if closed < 0 {
			r.sink.Add(ctx, ID(id), By{}, 0, values...)
			continue
		}
		for _, v := range m.Labels[closed].Values {
			values[closed] = v
			r.sink.Add(ctx, ID(id), By{}, 0, values...)
		}
	}
}

// openLabel returns where the open label and the other one are, -1 for none, and the name of
// the open one. No counter has two of a sort; a test holds that.
func openLabel(labels []Label) (at int, name string, closed int) {
	at, closed = -1, -1
	for i, l := range labels {
		if l.Open() {
			at, name = i, l.Name
		} else {
			closed = i
		}
	}
	return at, name, closed
}
