// Package verdict answers one question: what is true of this write, and of this
// comparison of times?
//
// Everything that is to be said about a package is computed once, whichever
// checks are on. A check prints the verdicts that carry its name, so that
// switching one off never makes another speak.
package verdict

import (
	"cmp"
	"fmt"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/fencelint/fence/analyzers/internal/authority"
	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/lease"
	"github.com/fencelint/fence/analyzers/internal/origin"
	"github.com/fencelint/fence/analyzers/internal/resource"
	"github.com/fencelint/fence/analyzers/internal/summary"
)

// The checks whose verdicts are computed here.
const (
	CheckThenWrite  = "checkthenwrite"
	UnfencedWrite   = "unfencedwrite"
	WallClockExpiry = "wallclockexpiry"
)

// Verdict is one thing to say.
type Verdict struct {
	Check    string
	Pos, End token.Pos
	Message  string
	Related  []Related
	Resource string // for the finding's identity
}

// Related is a further place of the story, in the order of events.
type Related struct {
	Pos     token.Pos
	Message string
}

// Input is what a package is judged by.
type Input struct {
	Pass    *analysis.Pass
	SSA     *ir.Provider
	Summary *summary.Result
	Policy  *resource.Policy
	Lookup  summary.Lookup
	Hits    *origin.Hits
	Strict  bool
	// Siblings are the statements that treat a column as a fence; Own are those among
	// them of this package.
	Siblings, Own []summary.Sibling
}

// judge holds one package under judgement.
type judge struct {
	*summary.Code
	in     Input
	out    []Verdict
	others []Verdict // what siblings in other packages ask for, to be said unless another check speaks
	writes []Write
	said   map[token.Pos]bool // where unfencedwrite has spoken
}

// Result is what was decided about a package.
type Result struct {
	Verdicts []Verdict // sorted by position
	Writes   []Write   // to what is protected, in the order of the code
}

// Of judges a package.
func Of(in Input) *Result {
	stores := in.Summary.Code != nil || summary.Opened(in.Pass, in.Lookup) || declares(in)
	times := comparesTimes(in)
	if !stores && !times {
		return &Result{}
	}
	// Read anew: more is known now than when the package was summed up (what the
	// methods of interfaces do, what fence.yaml declares).
	j := &judge{in: in, Code: summary.New(in.SSA.Get(), in.Lookup, in.Policy, in.Hits), said: map[token.Pos]bool{}}
	if in.Summary.Code != nil {
		j.Sink.Reuse(in.Summary.Code.Sink)
	}
	if stores {
		j.unfencedWrites()
		j.checkedWrites()
		j.siblingsElsewhere()
	}
	if times || stores {
		j.expiries()
	}
	j.out = slices.DeleteFunc(j.out, func(v Verdict) bool {
		return in.Policy.Excludes(in.Pass.Fset.Position(v.Pos).Filename)
	})
	Sort(j.out)
	return &Result{
		Verdicts: slices.CompactFunc(j.out, func(a, b Verdict) bool { return a.Pos == b.Pos && a.Check == b.Check }),
		Writes:   j.writes,
	}
}

// Sort sorts verdicts by position.
func Sort(vs []Verdict) {
	slices.SortStableFunc(vs, func(a, b Verdict) int {
		return cmp.Or(cmp.Compare(a.Pos, b.Pos), cmp.Compare(a.Check, b.Check), cmp.Compare(a.Message, b.Message))
	})
}

// declares tells whether the package uses a function that fence.yaml names as a
// write or a check.
func declares(in Input) bool {
	if in.Policy.Empty() {
		return false
	}
	for _, obj := range in.Pass.TypesInfo.Uses {
		switch o := obj.(type) {
		case *types.Func:
			if in.Policy.Names(o.Origin()) || in.Policy.Check(o) || in.Policy.Acquire(o) || in.Policy.Callback(o) {
				return true
			}
		}
	}
	return false
}

// comparesTimes tells, from identifiers alone, whether the package compares
// times and knows something about ownership.
func comparesTimes(in Input) bool {
	compares, owns := false, !in.Policy.Empty()
	words := map[string]bool{}
	for _, obj := range in.Pass.TypesInfo.Uses {
		switch o := obj.(type) {
		case *types.Func:
			if o.Pkg() != nil && o.Pkg().Path() == "time" {
				switch o.Name() {
				case "Now", "Since", "Until", "After", "Before", "Sub", "Compare":
					compares = true
				}
				break
			}
			if s := in.Lookup.Func(o); !compares && s != nil && len(s.Ages)+len(s.Binds) > 0 {
				compares = true
			}
		case *types.Var, *types.TypeName:
			if owns {
				break
			}
			name := obj.Name()
			has, ok := words[name]
			if !ok {
				has = lease.Ownership.Has(name) || lease.IsHolderName(name) || strings.EqualFold(name, "pid")
				words[name] = has
			}
			owns = owns || has
		}
		if compares && owns {
			return true
		}
	}
	if !compares {
		return false
	}
	for _, sel := range in.Pass.TypesInfo.Selections { // an expiry beside an owner
		if sel.Kind() == types.FieldVal && lease.Expiry.Has(sel.Obj().Name()) {
			if n := ir.NamedOf(sel.Recv()); n != nil && authority.HasHolder(n) {
				return true
			}
		}
	}
	return false
}

// line names a position briefly for a message.
func (j *judge) line(p token.Pos) string {
	if !p.IsValid() {
		return "elsewhere"
	}
	pos := j.Pkg.Fset.Position(p)
	return fmt.Sprintf("%s:%d", filepath.Base(pos.Filename), pos.Line)
}
