package checkthenwrite_test

import (
	"testing"

	"github.com/fencelint/fence/analyzers/checkthenwrite"
	"github.com/fencelint/fence/analyzers/internal/engine"
	"github.com/fencelint/fence/analyzers/internal/irtest"
)

// The files of testdata/*.txtar are programs of their own: what is reported is
// said in their want comments, and nothing else is.
func Test(t *testing.T) {
	for _, file := range []string{"testdata/flagged.txtar", "testdata/quiet.txtar"} {
		for _, c := range irtest.Cases(t, file) {
			t.Run(c.Name, func(t *testing.T) {
				pkgs := irtest.Load(t, t.TempDir(), "package p\n"+c.Text)
				g := irtest.Analyze(t, checkthenwrite.New(engine.New(engine.Options{})), pkgs)
				irtest.Check(t, g, pkgs)
				if n := len(irtest.Findings(g)); (n == 0) != (file == "testdata/quiet.txtar") {
					t.Errorf("%d findings in %s", n, file)
				}
			})
		}
	}
}
