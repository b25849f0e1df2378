package analyzers_test

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"

	"github.com/fencelint/fence/analyzers"
	"github.com/fencelint/fence/analyzers/checkthenwrite"
	"github.com/fencelint/fence/analyzers/wallclockexpiry"
)

// A modular driver takes the checks together: no two analyzers behind them may
// share a name or a type of fact.
func TestModular(t *testing.T) {
	if err := analysis.Validate([]*analysis.Analyzer{checkthenwrite.Analyzer, wallclockexpiry.Analyzer}); err != nil {
		t.Error(err)
	}
}

func TestLookup(t *testing.T) {
	all := analyzers.All()
	if !slices.IsSortedFunc(all, func(a, b analyzers.Check) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("All is not sorted by name, which Lookup relies on")
	}
	for _, c := range all {
		got, ok := analyzers.Lookup(c.Name)
		if !ok || got.Name != c.Name {
			t.Errorf("Lookup does not find %s", c.Name)
		}
		if a := c.New(nil); a.Name != c.Name || a.Doc == "" || a.URL == "" {
			t.Errorf("%s: its analyzer is named %s, has %d bytes of documentation and the page %q", c.Name, a.Name, len(a.Doc), a.URL)
		}
	}
	if _, ok := analyzers.Lookup("nosuchcheck"); ok {
		t.Error("Lookup finds a check that does not exist")
	}
}
