package ir_test

import (
	"go/types"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/irtest"
)

const src = `package p

import ("fmt"; "log"; "sync/atomic")

type runner interface{ run(int) }

type s struct {
	name string
	flag atomic.Bool
}

type alias = s

type list[T any] struct{ head T }

func (l *list[T]) push(v T) { l.head = v }

func (x *s) run(int) { x.name = "a"; x.flag.Store(true) }

var global = "x"

var hook = func() { called() }

func called() {}

func f(r runner, x *s) {
	called()
	go called()
	defer called()
	func() { called() }()
	v := called
	v()
	r.run(1)
	x.run(2)
	g := x.run
	g(3)
	fmt.Sscan("", &x.name)
	global = "y"
	l := &list[int]{}
	l.push(1)
	x.flag.Load()
	generic(1)
	generic("a")
}

func generic[T any](v T) T { return v }

func stops(b bool) {
	if b {
		log.Fatal("x")
	}
}
`

func names(fns []*ssa.Function) string {
	var out []string
	for _, f := range fns {
		out = append(out, f.Name())
	}
	return strings.Join(out, " ")
}

func TestIndexes(t *testing.T) {
	p := irtest.SSA(t, src)
	if got := names(p.Funcs); !strings.HasPrefix(got, "push run called f f$1 generic stops") || !strings.Contains(got, "init$1") {
		t.Errorf("functions %s", got)
	}
	called := irtest.Func(t, p, "called")
	if n := len(p.Callers(called)); n != 6 { // in f: directly, go, defer, the literal's, through v; in hook
		t.Errorf("%d callers", n)
	}
	if n := len(p.Callers(irtest.Func(t, p, "generic"))); n != 2 {
		t.Errorf("%d callers of a generic function", n)
	}
	if n := len(p.Callers(irtest.Func(t, p, "push"))); n != 1 {
		t.Errorf("%d callers of a method of a generic type", n)
	}
	if n := len(p.Invokes("run")); n != 1 {
		t.Errorf("%d calls through the interface", n)
	}
	run := irtest.Func(t, p, "run")
	if n := len(p.Bound(run.Object().(*types.Func))); n != 1 {
		t.Errorf("%d method values", n)
	}
	st := p.Types.Scope().Lookup("s").Type().Underlying().(*types.Struct)
	if n, m := len(p.Stores(st.Field(0))), len(p.Outs(st.Field(0))); n != 1 || m != 1 {
		t.Errorf("%d stores and %d addresses handed over", n, m)
	}
	if n, m := len(p.FieldCalls(st.Field(1), "Store")), len(p.FieldCalls(st.Field(1), "Swap")); n != 1 || m != 0 {
		t.Errorf("%d calls of Store and %d of Swap", n, m)
	}
	if n := len(p.GlobalStores(p.SSA.Var("global"))); n != 2 {
		t.Errorf("%d stores into a package variable", n)
	}
	list := p.Types.Scope().Lookup("list").Type().Underlying().(*types.Struct)
	if n := len(p.Stores(list.Field(0))); n != 1 {
		t.Errorf("%d stores into a field of a generic type", n)
	}
}

// log.Fatal ends a block: what follows the if runs only for the other answer.
func TestNoReturn(t *testing.T) {
	p := irtest.SSA(t, src)
	for _, b := range irtest.Func(t, p, "stops").Blocks {
		if slices.ContainsFunc(b.Instrs, func(in ssa.Instruction) bool { _, ok := in.(*ssa.Call); return ok }) && len(b.Succs) > 0 {
			t.Error("log.Fatal returns")
		}
	}
}

func TestTypes(t *testing.T) {
	p := irtest.SSA(t, src)
	s := p.Types.Scope().Lookup("s").Type()
	for _, typ := range []types.Type{s, types.NewPointer(s), p.Types.Scope().Lookup("alias").Type()} {
		if n := ir.NamedOf(typ); n == nil || n.Obj().Name() != "s" || !ir.IsNamed(typ, irtest.Path, "s") {
			t.Errorf("%v is %v", typ, n)
		}
		if f := ir.FieldOf(typ, 0); f == nil || f.Name() != "name" || ir.FieldOf(typ, 9) != nil {
			t.Errorf("field 0 of %v is %v", typ, f)
		}
	}
	if ir.NamedOf(types.Typ[types.Int]) != nil || ir.FieldOf(types.Typ[types.Int], 0) != nil || ir.IsNamed(s, "other", "s") {
		t.Error("a type that is none of these")
	}
	fn := irtest.Func(t, p, "f")
	if ir.Top(fn.AnonFuncs[0]) != fn || ir.Top(fn) != fn {
		t.Error("the function a literal lies in")
	}
}

func TestProvider(t *testing.T) {
	pkgs := irtest.Load(t, ".", src)
	p := pkgs[0]
	a, b := ir.Build(p.Fset, p.Types, p.Syntax, p.TypesInfo), ir.Build(p.Fset, p.Types, p.Syntax, p.TypesInfo)
	if names(a.Funcs) != names(b.Funcs) {
		t.Error("two builds differ")
	}
}
