// Package sqltext answers one question: which texts can reach this argument?
//
// A text is a constant with holes ([sqlstmt.Hole]) where a piece is not known.
package sqltext

import (
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/origin"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// The bounds: more texts than MaxTexts, or one longer than MaxLen, become a hole.
const (
	MaxTexts = 64
	MaxLen   = 64 << 10
	maxDepth = 32
	maxWays  = 8
)

// Reader finds the texts of values of one package.
type Reader struct {
	Pkg *ir.Package
	// Embedded returns the content of the file that //go:embed puts into v.
	Embedded func(v *types.Var) (string, bool)
	// Returns gives the texts that a function of another package or an interface
	// method returns, by its summary, with a [Mark] for each parameter; nil if there
	// are none.
	Returns func(f *types.Func) []string
	// Members gives the texts that a function of another package puts into the field of
	// that name of the struct it returns, with a [Mark] for each parameter.
	Members func(f *types.Func, field string) []string
	// Built gives the texts that a query builder's call renders.
	Built func(*ssa.Call) ([]string, bool)

	builders map[string]builder
}

// New returns a reader for one package.
func New(pkg *ir.Package) *Reader { return &Reader{Pkg: pkg, builders: builders()} }

// Texts returns every text v can be, sorted. A value nothing is known about is
// one hole.
func (r *Reader) Texts(v ssa.Value) []string {
	return r.texts(v, nil)
}

// Marked is Texts for a value of fn with a [Mark] for each of fn's parameters.
func (r *Reader) Marked(v ssa.Value, fn *ssa.Function) []string {
	e := &eval{r: r, busy: map[visit]bool{}, marked: fn}
	return slices.Clone(e.value(v, nil, 0))
}

// TextsAt is Texts for a value of the function that call calls, with the parameters
// that it has there.
func (r *Reader) TextsAt(v ssa.Value, call ssa.CallInstruction) []string {
	return r.texts(v, &frames{call: call, fn: ir.Callee(call.Common())})
}

// texts reads v once for each way in which the interfaces on its way are implemented,
// the same way all along: a statement made of one dialect's pieces has no other's.
func (r *Reader) texts(v ssa.Value, fr *frames) []string {
	var out []string
	for way, ways := 0, 1; way < ways; way++ {
		e := &eval{r: r, busy: map[visit]bool{}, way: way}
		out = append(out, e.value(v, fr, 0)...)
		ways = min(e.ways, maxWays)
	}
	slices.Sort(out)
	if out = slices.Compact(out); len(out) > MaxTexts {
		return unknown
	}
	return out
}

// Known tells whether a text has no hole.
func Known(s string) bool { return !strings.Contains(s, sqlstmt.Hole) }

// marks are code points of private use that stand for parameters.
const marks = '\uE100'

// maxMarks is how many parameters have a mark.
const maxMarks = 64

// Mark stands in a text for parameter i of the function that renders it, the
// receiver not counted.
func Mark(i int) string {
	if i >= maxMarks {
		return sqlstmt.Hole
	}
	return string(rune(marks + i))
}

// HasMark tells whether a text has the mark of a parameter.
func HasMark(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r >= marks && r < marks+maxMarks })
}

// IsMark tells whether a text is a mark and nothing else.
func IsMark(s string) bool {
	r, size := utf8.DecodeRuneInString(s)
	return size == len(s) && r >= marks && r < marks+maxMarks
}

var unknown = []string{sqlstmt.Hole}

type frames struct {
	call ssa.CallInstruction
	fn   *ssa.Function // what it calls
	up   *frames
}

// visit is a value in one call of its function.
type visit struct {
	v  ssa.Value
	fr *frames
}

type eval struct {
	r    *Reader
	busy map[visit]bool
	keys map[*ssa.Next]string // of loops over a map, in the pass that is looked at
	work int
	// marked is the function whose parameters stand for themselves.
	marked *ssa.Function

	way  int // which implementation of an interface is followed
	ways int // how many there are of the one that has most
}

func (e *eval) value(v ssa.Value, fr *frames, depth int) []string {
	e.work++
	if v == nil || depth > maxDepth || e.work > 4000 || e.busy[visit{v, fr}] {
		return unknown
	}
	e.busy[visit{v, fr}] = true
	defer delete(e.busy, visit{v, fr})
	switch v := v.(type) {
	case *ssa.Const:
		return constText(v)
	case *ssa.Phi:
		var out []string
		for _, x := range v.Edges {
			out = e.union(out, e.value(x, fr, depth+1))
		}
		return out
	case *ssa.BinOp:
		if v.Op == token.ADD {
			return cross(e.value(v.X, fr, depth+1), e.value(v.Y, fr, depth+1))
		}
	case *ssa.ChangeType:
		return e.value(v.X, fr, depth+1)
	case *ssa.Convert:
		return e.value(v.X, fr, depth+1)
	case *ssa.MakeInterface:
		return e.value(v.X, fr, depth+1)
	case *ssa.Slice:
		if v.Low == nil && v.High == nil {
			return e.value(v.X, fr, depth+1)
		}
	case *ssa.Call:
		return e.call(v, 0, fr, depth+1)
	case *ssa.Extract:
		switch t := v.Tuple.(type) {
		case *ssa.Call:
			return e.call(t, v.Index, fr, depth+1)
		case *ssa.Lookup:
			return e.lookup(t, fr, depth+1)
		case *ssa.Next:
			return e.ranged(t, v.Index, depth+1)
		}
	case *ssa.Lookup:
		return e.lookup(v, fr, depth+1)
	case *ssa.UnOp:
		if v.Op == token.MUL {
			return e.load(v.X, fr, depth+1)
		}
	case *ssa.Field:
		field := ir.FieldOf(v.X.Type(), v.Field)
		if out := e.made(v.X, field, fr, depth+1); out != nil {
			return out
		}
		return e.field(field, depth+1)
	case *ssa.Alloc: // the address of a text, as an API's optional argument
		if b, ok := v.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Basic); ok && b.Info()&types.IsString != 0 {
			return e.load(v, fr, depth+1)
		}
	case *ssa.Parameter:
		return e.param(v, fr, depth+1)
	case *ssa.FreeVar:
		var out []string
		for i, q := range v.Parent().FreeVars {
			if q != v {
				continue
			}
			for _, mc := range e.r.Pkg.Closures(v.Parent()) {
				out = e.union(out, e.value(mc.Bindings[i], fr, depth+1))
			}
		}
		if out != nil {
			return out
		}
	}
	return unknown
}

func constText(c *ssa.Const) []string {
	if c.Value == nil {
		return []string{""}
	}
	switch c.Value.Kind() {
	case constant.String:
		s := constant.StringVal(c.Value)
		if len(s) > MaxLen {
			return unknown
		}
		return []string{s}
	case constant.Int, constant.Bool:
		return []string{c.Value.ExactString()}
	}
	return unknown
}

func (e *eval) union(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(a, s)
		}
	}
	if len(a) > MaxTexts {
		return unknown
	}
	return a
}

func cross(a, b []string) []string {
	if len(a)*len(b) > MaxTexts {
		return unknown
	}
	out := make([]string, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			if len(x)+len(y) > MaxLen {
				return unknown
			}
			out = append(out, x+y)
		}
	}
	return out
}

// load reads a variable, a field or an element.
func (e *eval) load(addr ssa.Value, fr *frames, depth int) []string {
	switch a := addr.(type) {
	case *ssa.Global:
		return e.global(a, depth)
	case *ssa.FieldAddr:
		v := ir.FieldOf(a.X.Type(), a.Field)
		if root := origin.Root(e.r.Pkg, a.X); root != nil {
			if out := e.ofVariable(root, v, fr, depth); out != nil {
				return out
			}
		}
		if v != nil && v.Pkg() != e.r.Pkg.Types {
			return e.member(a.X, v, fr, depth)
		}
		return e.field(v, depth)
	case *ssa.IndexAddr:
		vals, ok := origin.Variadic(a.X)
		if !ok {
			return e.elements(a.X, fr, depth)
		}
		var out []string
		for _, x := range vals {
			out = e.union(out, e.value(x, fr, depth))
		}
		return out
	}
	root := origin.Root(e.r.Pkg, addr)
	if root == nil {
		return unknown
	}
	var out []string
	for _, s := range origin.Writes(root) {
		st, ok := s.(*ssa.Store)
		if !ok {
			return unknown
		}
		out = e.union(out, e.value(st.Val, fr, depth))
	}
	if out == nil {
		return unknown
	}
	return out
}

// member reads a field of another package's struct: x is a pointer to one that a function
// of that package made.
func (e *eval) member(x ssa.Value, field *types.Var, fr *frames, depth int) []string {
	if depth > maxDepth || e.busy[visit{x, fr}] {
		return unknown
	}
	e.busy[visit{x, fr}] = true
	defer delete(e.busy, visit{x, fr})
	switch x := x.(type) {
	case *ssa.Parameter:
		if fr == nil || fr.fn != ir.Origin(x.Parent()) {
			return unknown
		}
		if a := origin.Arg(fr.call.Common(), slices.Index(x.Parent().Params, x)); a != nil {
			return e.member(a, field, fr.up, depth+1)
		}
	case *ssa.UnOp:
		fa, ok := x.X.(*ssa.FieldAddr)
		if !ok || x.Op != token.MUL {
			return unknown
		}
		var out []string
		for _, s := range e.r.Pkg.Stores(ir.FieldOf(fa.X.Type(), fa.Field)) {
			if c, isConst := s.Store.Val.(*ssa.Const); !isConst || c.Value != nil {
				out = e.union(out, e.member(s.Store.Val, field, nil, depth+1))
			}
		}
		if out != nil {
			return out
		}
	case *ssa.Call:
		if obj := ir.Object(&x.Call); obj != nil && e.r.Members != nil {
			if out := e.r.Members(obj, field.Name()); len(out) > 0 {
				return e.rendered(out, x, fr, depth+1)
			}
		}
	}
	return unknown
}

// elements reads any element of a package-level list.
func (e *eval) elements(x ssa.Value, fr *frames, depth int) []string {
	ld, ok := x.(*ssa.UnOp)
	if !ok || ld.Op != token.MUL {
		return unknown
	}
	g, ok := ld.X.(*ssa.Global)
	if !ok {
		return unknown
	}
	var out []string
	for _, s := range e.r.Pkg.GlobalStores(g) {
		vals, ok := origin.Variadic(s.Val)
		if !ok {
			return unknown
		}
		for _, v := range vals {
			out = e.union(out, e.value(v, fr, depth))
		}
	}
	if out == nil {
		return unknown
	}
	return out
}

func (e *eval) field(v *types.Var, depth int) []string {
	if v == nil {
		return unknown
	}
	var out []string
	for _, s := range e.r.Pkg.Stores(v) {
		out = e.union(out, e.value(s.Store.Val, nil, depth))
	}
	if out == nil || len(e.r.Pkg.Outs(v)) > 0 {
		return unknown
	}
	return out
}

// global reads a package variable; one that other packages can set counts only
// with its initial value left unchanged here.
func (e *eval) global(g *ssa.Global, depth int) []string {
	v, _ := g.Object().(*types.Var)
	if v != nil && e.r.Embedded != nil {
		if s, ok := e.r.Embedded(v); ok && len(s) <= MaxLen {
			return []string{s}
		}
	}
	if g.Pkg != e.r.Pkg.SSA {
		return unknown
	}
	var out []string
	for _, s := range e.r.Pkg.GlobalStores(g) {
		out = e.union(out, e.value(s.Val, nil, depth))
	}
	if out == nil {
		return unknown
	}
	return out
}

func (e *eval) param(p *ssa.Parameter, fr *frames, depth int) []string {
	fn := p.Parent()
	i := slices.Index(fn.Params, p)
	if fr != nil && fr.fn == ir.Origin(fn) {
		if a := origin.Arg(fr.call.Common(), i); a != nil {
			return e.value(a, fr.up, depth)
		}
		return unknown
	}
	if fn == e.marked {
		if fn.Signature.Recv() != nil {
			i--
		}
		if i < 0 {
			return unknown
		}
		return []string{Mark(i)}
	}
	calls := e.r.Pkg.Callers(fn)
	if recv := fn.Signature.Recv(); recv != nil {
		for _, c := range e.r.Pkg.Invokes(fn.Name()) {
			if iface, ok := c.Common().Value.Type().Underlying().(*types.Interface); ok && types.Implements(recv.Type(), iface) {
				calls = append(slices.Clip(calls), c)
			}
		}
	}
	if len(calls) == 0 || len(calls) > origin.MaxCallers {
		return unknown
	}
	var out []string
	for _, c := range calls {
		if a := origin.Arg(c.Common(), i); a != nil {
			out = e.union(out, e.value(a, nil, depth))
		}
	}
	if out == nil {
		return unknown
	}
	if obj, _ := fn.Object().(*types.Func); obj == nil || obj.Exported() || len(e.r.Pkg.Values(fn)) > 0 || len(e.r.Pkg.Bound(obj)) > 0 {
		out = e.union(out, unknown) // others may call it too
	}
	return out
}
