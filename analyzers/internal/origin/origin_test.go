package origin_test

import (
	"fmt"
	"go/constant"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/irtest"
	"github.com/fencelint/fence/analyzers/internal/origin"
)

// ends walks back from v and returns the ends of the walk, sorted: constants,
// calls of other packages ("os.Getenv()"), calls that were handed an address
// ("->Scan"), parameters nobody fills ("param x"), variables nobody sets.
func ends(t *origin.Tracer, v ssa.Value) (out []string, complete bool) {
	complete = t.Walk(v, func(v, addr ssa.Value) ([]ssa.Value, bool) {
		switch v := v.(type) {
		case *ssa.Const:
			switch {
			case v.Value == nil:
				out = append(out, "zero")
			case v.Value.Kind() == constant.String:
				out = append(out, constant.StringVal(v.Value))
			default:
				out = append(out, v.Value.ExactString())
			}
		case *ssa.Call:
			obj := ir.Object(&v.Call)
			switch {
			case obj == nil:
			case addr != nil:
				out = append(out, "->"+obj.Name())
				return nil, true
			case obj.Pkg() != t.Pkg.Types || v.Call.IsInvoke():
				out = append(out, obj.Name()+"()")
			}
		case *ssa.Parameter:
			if len(t.Pkg.Callers(v.Parent())) == 0 {
				out = append(out, "param "+v.Name())
			}
		case *ssa.BinOp:
			return []ssa.Value{v.X, v.Y}, true
		}
		return nil, false
	})
	slices.Sort(out)
	return slices.Compact(out), complete
}

// testdata/ends.txtar: "-- name: end, end --" and the code.
func TestWalk(t *testing.T) {
	for _, c := range irtest.Cases(t, "testdata/ends.txtar") {
		t.Run(c.Name, func(t *testing.T) {
			p := irtest.SSA(t, "package p\n"+c.Text)
			got, complete := ends(&origin.Tracer{Pkg: p}, irtest.Probe(t, p))
			if s := strings.Join(got, ", "); s != c.Want || !complete {
				t.Errorf("got  %s\nwant %s (complete: %t)", s, c.Want, complete)
			}
		})
	}
}

// A walk in two runs meets the same values in the same order.
func TestWalkOrder(t *testing.T) {
	var first []string
	for range 5 {
		p := irtest.SSA(t, `package p
type s struct{ a, b string }
var g = map[string]*s{"x": {a: "1"}, "y": {b: "2"}}
func f(c bool) {
	x := &s{a: "3"}
	if c { x.a = "4" }
	func() { x.b = "5"; probe(x.a + x.b + g["x"].a + h(c).b) }()
}
func h(c bool) *s { if c { return &s{b: "6"} }; return g["y"] }
`)
		var got []string
		(&origin.Tracer{Pkg: p}).Walk(irtest.Probe(t, p), func(v, _ ssa.Value) ([]ssa.Value, bool) {
			got = append(got, v.Name())
			if b, ok := v.(*ssa.BinOp); ok {
				return []ssa.Value{b.X, b.Y}, true
			}
			return nil, false
		})
		if first == nil {
			first = got
		}
		if !slices.Equal(got, first) {
			t.Fatalf("%q, then %q", first, got)
		}
	}
}

// Bounds are never exceeded, and a walk that hits one says so and counts it.
func TestBounds(t *testing.T) {
	chain := func(n int) string { // f0 hands x to f1 ... to probe
		var b strings.Builder
		b.WriteString("package p\nfunc start() { f0(\"x\") }\n")
		for i := range n {
			fmt.Fprintf(&b, "func f%d(x string) { f%d(x) }\n", i, i+1)
		}
		fmt.Fprintf(&b, "func f%d(x string) { probe(x) }\n", n)
		return b.String()
	}
	callers := func(n int) string {
		return "package p\nfunc f(x string) { probe(x) }\nfunc g() {\n" + strings.Repeat("\tf(\"x\")\n", n) + "}\n"
	}
	wide := func(n int) string { // a phi of n constants
		var b strings.Builder
		b.WriteString("package p\nfunc f(i int) {\n\tx := 0\n\tswitch i {\n")
		for i := range n {
			fmt.Fprintf(&b, "\tcase %d: x = %d\n", i, i)
		}
		b.WriteString("\t}\n\tprobe(x)\n}\n")
		return b.String()
	}
	for _, c := range []struct {
		name                  string
		src                   string
		depth, callers, nodes bool
	}{
		{"a short chain", chain(10), false, false, false},
		{"a long chain", chain(100), true, false, false},
		{"as many callers as are followed", callers(origin.MaxCallers), false, false, false},
		{"100 callers", callers(100), false, true, false},
		{"many values", wide(origin.MaxNodes + 10), false, false, true},
		{"recursion", "package p\nfunc f(x string, n int) string { if n == 0 { return x }; return f(x, n-1) }\nfunc g() { probe(f(\"x\", 3)) }\n", false, false, false},
		{"mutual recursion", "package p\nfunc f(n int) string { if n == 0 { return \"x\" }; return h(n) }\nfunc h(n int) string { return f(n-1) }\nfunc g() { probe(f(3)) }\n", false, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := irtest.SSA(t, c.src)
			tr := &origin.Tracer{Pkg: p, Hits: &origin.Hits{}}
			_, complete := ends(tr, irtest.Probe(t, p))
			hit := func(n int64) bool { return n > 0 }
			if d, cs, n := hit(tr.Hits.Depth.Load()), hit(tr.Hits.Callers.Load()), hit(tr.Hits.Nodes.Load()); d != c.depth || cs != c.callers || n != c.nodes {
				t.Errorf("bounds hit: depth %t, callers %t, nodes %t", d, cs, n)
			}
			if want := !c.depth && !c.callers && !c.nodes; complete != want {
				t.Errorf("complete is %t", complete)
			}
			seen := 0
			tr.Walk(irtest.Probe(t, p), func(_, _ ssa.Value) ([]ssa.Value, bool) { seen++; return nil, false })
			if seen > origin.MaxNodes+2 {
				t.Errorf("%d values visited", seen)
			}
		})
	}
}

func TestVariadic(t *testing.T) {
	for _, c := range []struct {
		name, src, want string
		ok              bool
	}{
		{"at the call", `func f() { take("a", 1) }`, "a 1", true},
		{"none", `func f() { take() }`, "", true},
		{"a literal", `func f() { args := []any{"a", 1}; take(args...) }`, "a 1", true},
		{"appended", `func f() { args := []any{"a"}; args = append(args, "b", "c"); take(args...) }`, "a b c", true},
		{"appended a list", `func f() { args := []any{"a"}; args = append(args, []any{"b"}...); take(args...) }`, "a b", true},
		{"appended to nil", `func f() { var args []any; args = append(args, "b"); take(args...) }`, "b", true},
		{"appended sometimes", `func f(c bool) { args := []any{"a"}; if c { args = append(args, "b") }; take(args...) }`, "a", true},
		{"appended in a loop", `func f(n int) { args := []any{"a"}; for range n { args = append(args, "b") }; take(args...) }`, "a", true},
		{"appended in a loop and behind it", `func f(n int) { args := []any{"a"}; for range n { args = append(args, "b") }; args = append(args, "c"); take(args...) }`, "a", true},
		{"appended to something unknown", `func F(args []any) { args = append(args, "b"); take(args...) }`, "", false},
		{"unknown", `func F(args []any) { take(args...) }`, "", false},
		{"a list of unknown length", `func F(n int) { take(make([]any, n)...) }`, "", false},
		{"either of two", `func f(c bool) { args := []any{"a", "b"}; if c { args = []any{"c"} }; take(args...) }`, "c", true},
		{"a literal out of order", `func f() { args := []any{1: "b", 0: "a"}; take(args...) }`, "a b", true},
		{"a literal with a gap", `func f() { args := []any{0: "a", 2: "c"}; take(args...) }`, "a", true},
		{"elements set one by one", `func f() { args := make([]any, 2); args[1] = "b"; args[0] = "a"; take(args...) }`, "a b", true},
		{"an element set again", `func f() { args := []any{"a", "b"}; args[1] = "c"; take(args...) }`, "a", true},
		{"an element set somewhere", `func f(i int) { args := []any{"a", "b"}; args[i] = "c"; take(args...) }`, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := irtest.SSA(t, "package p\nfunc take(...any) {}\n"+c.src)
			vals, ok := origin.Variadic(irtest.Calls(p, "take")[0].Common().Args[0])
			var got []string
			for _, v := range vals {
				es, _ := ends(&origin.Tracer{Pkg: p}, v)
				got = append(got, strings.Join(es, "|"))
			}
			if s := strings.Join(got, " "); s != c.want || ok != c.ok {
				t.Errorf("%q, %t", s, ok)
			}
		})
	}
}

func TestRootAndWrites(t *testing.T) {
	p := irtest.SSA(t, `package p
import "fmt"
func f() {
	x := "a"
	g := func() {
		x = "b"
		fmt.Sscan("", &x)
		func() { probe(&x) }()
	}
	g()
}
func h(y *string) { probe(y) }
`)
	probes := irtest.Probes(p)
	root := origin.Root(p, probes[0])
	if root == nil || root.Parent().Name() != "f" {
		t.Fatalf("the root of a captured variable is %v", root)
	}
	stores, calls := 0, 0
	for _, in := range origin.Writes(root) {
		switch in.(type) {
		case *ssa.Store:
			stores++
		case *ssa.Call:
			calls++
		}
	}
	if stores != 2 || calls != 2 { // Sscan and probe
		t.Errorf("%d stores and %d calls", stores, calls)
	}
	if r := origin.Root(p, probes[1]); r != nil {
		t.Errorf("a parameter has the root %v", r)
	}
}

func TestArg(t *testing.T) {
	p := irtest.SSA(t, `package p
type i interface{ m(a, b int) }
type s struct{}
func (s) m(a, b int) {}
func f(x i, y s) { x.m(1, 2); y.m(1, 2) }
`)
	for _, c := range irtest.Calls(p, "m") {
		cc := c.Common()
		for i, want := range []string{"", "1:int", "2:int"} {
			if a := origin.Arg(cc, i); a == nil || want != "" && a.String() != want {
				t.Errorf("argument %d of %v is %v", i, c, a)
			}
		}
		if origin.Arg(cc, 3) != nil || origin.Arg(cc, -1) != nil {
			t.Error("an argument out of range")
		}
	}
}
