package driver

import (
	"cmp"
	"slices"

	"github.com/fencelint/fence/analyzers/internal/engine"
	"github.com/fencelint/fence/analyzers/internal/verdict"
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

// statement is one that a function sends and that its callers are judged by.
type statement struct{ at, target string }

// writes lists the writes of the packages that were checked, by place. Those in
// generated files are listed where they are called, and those of a function that
// leaves them to its callers where they are called and where they are sent.
func writes(env *engine.Env, l *loadedPackages) []Write {
	var all []Write
	judged := map[statement]verdict.Write{} // the worst of the calls
	for _, p := range l.sound {
		for _, w := range env.Writes(p.Types) {
			for _, at := range w.Sent {
				if old, ok := judged[statement{at, w.Target}]; !w.Left && (!ok || w.Outcome > old.Outcome) {
					judged[statement{at, w.Target}] = w
				}
			}
		}
	}
	for _, p := range l.sound {
		for _, w := range env.Writes(p.Types) {
			if w.Left {
				by, ok := judged[statement{w.Sent[0], w.Target}]
				w.Outcome, w.Why = by.Outcome, by.Why+", judged where it is called"
				if !ok {
					w.Outcome, w.Why = verdict.Unproven, "its callers are out of sight"
				}
			}
			all = append(all, Write{l.at.place(p.Fset, w.Pos), w.Verb, w.Target, w.Outcome.String(), w.Why})
		}
	}
	slices.SortFunc(all, func(a, b Write) int {
		return cmp.Or(cmp.Compare(a.Place.File, b.Place.File), cmp.Compare(a.Place.Line, b.Place.Line),
			cmp.Compare(a.Place.Column, b.Place.Column), cmp.Compare(a.Target, b.Target))
	})
	return slices.Compact(all)
}
