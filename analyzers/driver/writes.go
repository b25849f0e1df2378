package driver

import (
	"cmp"
	"slices"

	"github.com/fencelint/fence/analyzers/internal/engine"
	"github.com/fencelint/fence/internal/finding"
)

// Write is one write to a protected table or resource, whatever protects it.
type Write struct {
	Place   finding.Place
	Verb    string // UPDATE, PutObject
	Target  string // the table or resource
	Verdict string // fenced, unproven or unfenced
	Why     string // what compares, or what is missing or out of sight
}

// writes lists the writes of the packages that were checked, by place. Those in
// generated files are listed where they are called.
func writes(env *engine.Env, l *loadedPackages) []Write {
	var all []Write
	for _, p := range l.sound {
		for _, w := range env.Writes(p.Types) {
			all = append(all, Write{l.at.place(p.Fset, w.Pos), w.Verb, w.Target, w.Outcome.String(), w.Why})
		}
	}
	slices.SortFunc(all, func(a, b Write) int {
		return cmp.Or(cmp.Compare(a.Place.File, b.Place.File), cmp.Compare(a.Place.Line, b.Place.Line),
			cmp.Compare(a.Place.Column, b.Place.Column), cmp.Compare(a.Target, b.Target))
	})
	return slices.Compact(all)
}
