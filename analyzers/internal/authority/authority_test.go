package authority_test

import (
	"fmt"
	"go/types"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/authority"
	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/irtest"
	"github.com/fencelint/fence/analyzers/internal/lease"
	"github.com/fencelint/fence/analyzers/internal/origin"
	"github.com/fencelint/fence/analyzers/internal/summary"
)

// nothing is a lookup that knows no other package.
type nothing struct{}

func (nothing) Func(*types.Func) *summary.Func    { return nil }
func (nothing) Stored(*types.Var) *summary.Stored { return nil }

func code(t *testing.T, src string) *summary.Code {
	t.Helper()
	return summary.New(irtest.SSA(t, src), nothing{}, nil, &origin.Hits{})
}

var kinds = map[authority.Kind]string{authority.Acquired: "acquired", authority.Checked: "checked", authority.OwnerCompared: "owner",
	authority.TokenCompared: "token", authority.Unexpired: "unexpired", authority.Absent: "absent", authority.Callback: "callback"}

// within describes the regions that contain in: kinds with their marks.
func within(c *summary.Code, in ssa.Instruction) []string {
	var out []string
	for _, reg := range c.Authority.Regions(in.Parent()) {
		if !reg.Contains(in) {
			continue
		}
		s := kinds[reg.Ev.Kind]
		if reg.Ev.Held {
			s += "+held"
		}
		if reg.Ev.Session {
			s += "+session"
		}
		if reg.Ev.Weak {
			s += "+weak"
		}
		out = append(out, s)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// testdata/regions.txtar: "-- name: evidence --" and the code. yes() runs only
// under that evidence, no() under none.
func TestRegions(t *testing.T) {
	for _, c := range irtest.Cases(t, "testdata/regions.txtar") {
		t.Run(c.Name, func(t *testing.T) {
			code := code(t, "package p\n"+c.Text)
			for _, call := range irtest.Calls(code.Pkg, "yes") {
				if got := strings.Join(within(code, call), " "); got != c.Want {
					t.Errorf("line %d: yes runs under %q, want %q", line(code.Pkg, call), got, c.Want)
				}
			}
			for _, call := range irtest.Calls(code.Pkg, "no") {
				if got := within(code, call); len(got) > 0 {
					t.Errorf("line %d: no runs under %q", line(code.Pkg, call), got)
				}
			}
		})
	}
}

func line(p *ir.Package, in ssa.Instruction) int { return p.Fset.Position(in.Pos()).Line }

// testdata/proofs.txtar: "-- name: proofs --" and code with a function f. A proof
// is "N nil", "N true" or "N false", N being the number of the result, and marks.
func TestFuncProofs(t *testing.T) {
	for _, c := range irtest.Cases(t, "testdata/proofs.txtar") {
		t.Run(c.Name, func(t *testing.T) {
			code := code(t, "package p\n"+c.Text)
			var got []string
			for _, p := range code.Authority.FuncProofs(irtest.Func(t, code.Pkg, "f")) {
				s := fmt.Sprint(p.Result, " ", map[lease.Proof]string{lease.NilError: "nil", lease.True: "true", lease.False: "false"}[p.Mode])
				if p.Acquires {
					s += " acquires"
				}
				if p.Held {
					s += " held"
				}
				got = append(got, s)
			}
			if s := strings.Join(got, ", "); s != c.Want {
				t.Errorf("got %q, want %q", s, c.Want)
			}
		})
	}
}

func TestFuncOwnerArgs(t *testing.T) {
	c := code(t, `package p
import ("context"; "github.com/go-redsync/redsync/v4")
type s struct{ mu *redsync.Mutex }
func (x *s) with(ctx context.Context, name string, f func() error) error {
	if err := x.mu.Lock(); err != nil { return err }
	defer x.mu.Unlock()
	return f()
}
func (x *s) both(f, g func()) {
	g()
	if x.mu.Lock() == nil { f() }
}
func (x *s) before(f func()) { f(); x.mu.Lock() }
func (x *s) never(f func()) { x.mu.Lock() }
func (x *s) sometimes(f func()) { if x.mu.Lock() == nil { f() }; f() }
func (x *s) none(n int) {}
`)
	for name, want := range map[string]string{"with": "[2]", "both": "[0]", "before": "[]", "never": "[]", "sometimes": "[]", "none": "[]"} {
		if got := fmt.Sprint(c.Authority.FuncOwnerArgs(irtest.Func(t, c.Pkg, name))); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// What only fence.yaml or a summary can say.
func TestProofsFromOutside(t *testing.T) {
	c := code(t, `package p
type e struct{}
func (e) Active() bool { return false }
func (e) Ensure() error { return nil }
func (e) Epoch() (int, *int) { return 0, nil }
func (e) Run(func()) {}
type cfg struct{ isLeader func() bool }
func f(x e, c cfg) {
	if x.Active() { yes() } else { no() }
	if x.Ensure() != nil { no() } else { yes() }
	if c.isLeader() { yes() } else { no() }
	if _, p := x.Epoch(); p != nil { yes() }
	x.Run(func() { yes() })
	no()
}
`)
	c.Authority.Proofs = func(f *types.Func) []authority.Proof {
		switch f.Name() {
		case "Active":
			return []authority.Proof{{Mode: lease.True}}
		case "Ensure":
			return []authority.Proof{{Mode: lease.NilError}}
		case "Epoch":
			return []authority.Proof{{Result: -1}}
		}
		return nil
	}
	c.Authority.CheckValue = func(*ssa.CallCommon) (string, bool) { return "cfg.isLeader", true }
	calls := irtest.Calls(c.Pkg, "yes")
	for i, want := range []string{"checked", "checked", "checked", "checked", ""} {
		if got := strings.Join(within(c, calls[i]), " "); got != want {
			t.Errorf("%d. %q, want %q", i, got, want)
		}
	}
	for _, call := range irtest.Calls(c.Pkg, "no") {
		if got := within(c, call); len(got) > 0 {
			t.Errorf("line %d: %q", line(c.Pkg, call), got)
		}
	}
}

// Callers deep enough to need every bound end all the same.
func TestDeepCallers(t *testing.T) {
	var b strings.Builder
	b.WriteString("package p\nimport \"github.com/go-redsync/redsync/v4\"\nfunc f(m *redsync.Mutex) { if m.Lock() == nil { f0() } }\n")
	for i := range 60 {
		fmt.Fprintf(&b, "func f%d() { f%d() }\n", i, i+1)
	}
	b.WriteString("func f60() { yes(); f0() }\n") // and a cycle
	c := code(t, b.String())
	for _, call := range irtest.Calls(c.Pkg, "yes") {
		within(c, call)
	}
}
