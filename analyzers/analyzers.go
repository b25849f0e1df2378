// Package analyzers lists fence's checks.
package analyzers

import (
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"honnef.co/go/tools/analysis/lint"

	"github.com/fencelint/fence/analyzers/checkthenwrite"
	"github.com/fencelint/fence/analyzers/internal/engine"
	"github.com/fencelint/fence/analyzers/unfencedwrite"
	"github.com/fencelint/fence/analyzers/wallclockexpiry"
)

// Check is one check: its name, its documentation and how to make its analyzer.
type Check struct {
	Name string
	Doc  *lint.RawDocumentation // Title, Text, Before, After, Severity, NonDefault
	New  func(*engine.Env) *analysis.Analyzer
}

// All returns every built check, sorted by name.
func All() []Check { return slices.Clone(all) }

// Lookup returns the check of that name.
func Lookup(name string) (Check, bool) {
	i, ok := slices.BinarySearchFunc(all, name, func(c Check, n string) int { return strings.Compare(c.Name, n) })
	if !ok {
		return Check{}, false
	}
	return all[i], true
}

// all is sorted by name.
var all = []Check{
	{checkthenwrite.Name, checkthenwrite.Doc, checkthenwrite.New},
	{unfencedwrite.Name, unfencedwrite.Doc, unfencedwrite.New},
	{wallclockexpiry.Name, wallclockexpiry.Doc, wallclockexpiry.New},
}
