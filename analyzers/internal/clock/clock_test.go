package clock_test

import (
	"fmt"
	"go/types"
	"testing"

	"github.com/fencelint/fence/analyzers/internal/clock"
	"github.com/fencelint/fence/analyzers/internal/irtest"
	"github.com/fencelint/fence/analyzers/internal/origin"
)

// testdata/times.txtar: "-- name: kind --", kind one of now, wall, other; then
// the code.
func TestOf(t *testing.T) {
	for _, c := range irtest.Cases(t, "testdata/times.txtar") {
		t.Run(c.Name, func(t *testing.T) {
			p := irtest.SSA(t, "package p\n"+c.Text)
			r := &clock.Reader{Trace: &origin.Tracer{Pkg: p}, Clock: func(f *types.Func) (wall, ok bool) {
				switch f.FullName() {
				case "os.Getpid": // stands for a function with a fact
					return false, true
				case "os.Getppid":
					return true, true
				}
				return false, false
			}}
			tm := r.Of(irtest.Probe(t, p))
			got := "other"
			switch {
			case tm.Stripped:
				got = "wall"
			case tm.Now:
				got = "now"
			}
			if got != c.Want || tm.Stripped != tm.StripAt.IsValid() {
				t.Errorf("%s (%+v), want %s", got, tm, c.Want)
			}
		})
	}
}

func TestStripAt(t *testing.T) {
	p := irtest.SSA(t, "package p\nimport \"time\"\nfunc f() {\n\tx := time.Now()\n\ty := x.\n\t\tUTC()\n\tprobe(y.Add(1))\n}\n")
	tm := (&clock.Reader{Trace: &origin.Tracer{Pkg: p}}).Of(irtest.Probe(t, p))
	if got := fmt.Sprint(p.Fset.Position(tm.StripAt).Line); got != "6" {
		t.Errorf("line %s", got)
	}
}

func TestIsZero(t *testing.T) {
	p := irtest.SSA(t, "package p\nimport \"time\"\nfunc f(x int) { probe(0); probe(1); probe(x); probe(time.Time{}) }\n")
	want := []bool{true, false, false}
	for i, v := range irtest.Probes(p)[:3] {
		if clock.IsZero(v) != want[i] {
			t.Errorf("%d. %v", i, v)
		}
	}
}
