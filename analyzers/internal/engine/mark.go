package engine

import (
	"go/token"
	"slices"
	"strings"

	"github.com/fencelint/fence/analyzers/internal/verdict"
)

// marks say in a message that only a driver that sees all packages in one process
// can know: from the implementations of an interface, or from what other packages
// of the module ask of a table.
var marks = []string{"via interface", "via module"}

// mark marks the verdicts of whole that rest on more than the package and the facts
// about what it imports. alone is what those say: judging once more is how they are
// told apart, since a mark that each place had to hand on would be forgotten in one
// of them.
//
// What alone says is said, in the same words, so that go vet and fence check differ
// in nothing but marks. It may be missing from whole as a finding of its own, where
// a write behind an interface came first and lists it as one more. What alone says
// and whole does not is known to be wrong.
func mark(whole, alone []verdict.Verdict) []verdict.Verdict {
	listed := map[token.Pos]bool{}
	for _, v := range whole {
		listed[v.Pos] = true
		for _, r := range v.Related {
			listed[r.Pos] = true
		}
	}
	out := slices.DeleteFunc(slices.Clone(alone), func(v verdict.Verdict) bool { return !listed[v.Pos] })
	for _, v := range whole {
		if slices.ContainsFunc(out, func(a verdict.Verdict) bool { return sameDefect(a, v) }) {
			continue
		}
		if !slices.ContainsFunc(marks, func(m string) bool { return strings.Contains(v.Message, m) }) {
			v.Message += " (" + marks[0] + ")"
		}
		out = append(out, v)
	}
	verdict.Sort(out)
	return out
}

// sameDefect tells whether two verdicts are about one defect, of which there is one
// report: of a late write either check may speak.
func sameDefect(a, b verdict.Verdict) bool {
	late := func(check string) bool { return check == verdict.UnfencedWrite || check == verdict.CheckThenWrite }
	return a.Pos == b.Pos && (a.Check == b.Check || late(a.Check) && late(b.Check))
}
