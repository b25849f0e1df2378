package driver

import "github.com/fencelint/fence/analyzers/internal/origin"

// Bound counts how often the engine stopped looking because of one of its
// bounds. What lies behind a bound is not known, which makes checks silent.
type Bound struct {
	Name string
	Max  int
	Hits int64
}

func bounds(h *origin.Hits) []Bound {
	return []Bound{
		{"depth", origin.MaxDepth, h.Depth.Load()},
		{"callers", origin.MaxCallers, h.Callers.Load()},
		{"nodes", origin.MaxNodes, h.Nodes.Load()},
	}
}
