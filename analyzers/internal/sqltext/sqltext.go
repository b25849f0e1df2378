// Package sqltext answers one question: which texts can reach this argument?
//
// A text is a constant with holes ([sqlstmt.Hole]) where a piece is not known.
package sqltext

import (
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
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
		return e.field(ir.FieldOf(v.X.Type(), v.Field), depth+1)
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
			var out []string
			for _, s := range e.r.Pkg.Stores(v) {
				if origin.Root(e.r.Pkg, s.Addr.X) == root {
					out = e.union(out, e.value(s.Store.Val, fr, depth))
				}
			}
			if out != nil {
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

// A builder turns the arguments of a well-known call into texts.
type builder func(e *eval, c *ssa.Call, fr *frames, depth int) []string

func builders() map[string]builder {
	return map[string]builder{
		"fmt.Sprintf":        (*eval).sprintf,
		"fmt.Sprint":         (*eval).sprint,
		"strings.Join":       (*eval).join,
		"path.Join":          (*eval).joinPath,
		"path/filepath.Join": (*eval).joinPath,
		"strings.TrimSpace":  mapped(strings.TrimSpace),
		"strings.ToUpper":    mapped(strings.ToUpper),
		"strings.ToLower":    mapped(strings.ToLower),
		"strings.Replace":    (*eval).replace,
		"strings.ReplaceAll": (*eval).replace,
		"strings.Clone":      same,

		"github.com/redis/go-redis/v9.NewScript":  same,
		"github.com/aws/aws-sdk-go-v2/aws.String": same,

		"(*strings.Builder).String": (*eval).built,
		"(*bytes.Buffer).String":    (*eval).built,

		"(*regexp.Regexp).ReplaceAllString":     (*eval).respaced,
		"(*regexp.Regexp).ReplaceAllStringFunc": (*eval).renumbered,
		"github.com/jmoiron/sqlx.Rebind":        (*eval).second,
		"github.com/jmoiron/sqlx.In":            same,

		"(*github.com/jmoiron/sqlx.DB).Rebind": (*eval).second,
		"(*github.com/jmoiron/sqlx.Tx).Rebind": (*eval).second,
	}
}

// respaced is the text that a pattern is replaced in, if what comes in its place is
// blank or a placeholder, which change nothing about what a statement does.
func (e *eval) respaced(c *ssa.Call, fr *frames, depth int) []string {
	if len(c.Call.Args) < 3 {
		return unknown
	}
	k, ok := c.Call.Args[2].(*ssa.Const)
	if !ok || k.Value == nil || k.Value.Kind() != constant.String || strings.Trim(constant.StringVal(k.Value), " \t\n?$0123456789{}") != "" {
		return unknown
	}
	return e.value(c.Call.Args[1], fr, depth)
}

// placeholders are patterns that match nothing but placeholders.
var placeholders = regexp.MustCompile(`^[\\?$|0-9d+()\[\]:-]+$`)

// renumbered is the text in which a function writes the placeholders anew.
func (e *eval) renumbered(c *ssa.Call, fr *frames, depth int) []string {
	re, ok := c.Call.Args[0].(*ssa.Call)
	if !ok {
		if ld, isLoad := c.Call.Args[0].(*ssa.UnOp); isLoad {
			if st := e.onlyStore(ld); st != nil {
				re, ok = st.Val.(*ssa.Call)
			}
		}
	}
	if !ok || len(re.Call.Args) != 1 || ir.Object(&re.Call) == nil || ir.Object(&re.Call).FullName() != "regexp.MustCompile" {
		return unknown
	}
	if p := e.value(re.Call.Args[0], nil, depth); len(p) != 1 || !placeholders.MatchString(p[0]) {
		return unknown
	}
	return e.value(c.Call.Args[1], fr, depth)
}

// same is the text of the first argument, unchanged.
var same = mapped(func(s string) string { return s })

func mapped(f func(string) string) builder {
	return func(e *eval, c *ssa.Call, fr *frames, depth int) []string {
		in := e.value(c.Call.Args[0], fr, depth)
		out := make([]string, len(in))
		for i, s := range in {
			out[i] = f(s)
		}
		return out
	}
}

// rendered puts the arguments of c in the place of the marks of texts.
func (e *eval) rendered(texts []string, c *ssa.Call, fr *frames, depth int) []string {
	shift := 0
	if ir.Object(&c.Call).Type().(*types.Signature).Recv() != nil {
		shift = 1
	}
	var out []string
	for _, t := range texts {
		parts := []string{""}
		for {
			at := strings.IndexFunc(t, func(r rune) bool { return r >= marks && r < marks+maxMarks })
			if at < 0 {
				break
			}
			mark, size := utf8.DecodeRuneInString(t[at:])
			arg := unknown
			if a := origin.Arg(&c.Call, int(mark-marks)+shift); a != nil {
				arg = e.value(a, fr, depth)
			}
			parts = cross(cross(parts, []string{t[:at]}), arg)
			t = t[at+size:]
		}
		out = e.union(out, cross(parts, []string{t}))
	}
	return out
}

func (e *eval) second(c *ssa.Call, fr *frames, depth int) []string {
	if len(c.Call.Args) < 2 {
		return unknown
	}
	return e.value(c.Call.Args[1], fr, depth)
}

func (e *eval) call(c *ssa.Call, i int, fr *frames, depth int) []string {
	obj := ir.Object(&c.Call)
	if obj == nil {
		return unknown
	}
	if e.r.Built != nil && i == 0 {
		if ts, ok := e.r.Built(c); ok {
			return ts
		}
	}
	if b, ok := e.r.builders[obj.FullName()]; ok && i == 0 {
		return b(e, c, fr, depth)
	}
	if c.Call.IsInvoke() && obj.Name() == "Rebind" && len(c.Call.Args) == 1 { // a program's own interface to sqlx
		return e.value(c.Call.Args[0], fr, depth)
	}
	callee := ir.Callee(&c.Call)
	if callee == nil {
		callee = e.implementation(&c.Call)
	}
	if callee == nil || callee.Pkg != e.r.Pkg.SSA || callee.Blocks == nil {
		if stmt := preparedText(c); stmt != nil && i == 0 {
			return e.value(stmt, fr, depth)
		}
		if e.r.Returns != nil && i == 0 {
			if out := e.r.Returns(obj); len(out) > 0 {
				return e.rendered(out, c, fr, depth)
			}
		}
		return unknown
	}
	for f := fr; f != nil; f = f.up {
		if f.fn == callee {
			return unknown
		}
	}
	in := &frames{call: c, fn: callee, up: fr}
	var out []string
	for _, b := range callee.Blocks {
		if len(b.Instrs) == 0 {
			continue
		}
		if r, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return); ok && i < len(r.Results) && !noStatement(r.Results[i]) {
			out = e.union(out, e.value(r.Results[i], in, depth))
		}
	}
	if out == nil {
		return unknown
	}
	return out
}

// implementation returns what a call of an interface method runs on the way that is
// followed.
func (e *eval) implementation(c *ssa.CallCommon) *ssa.Function {
	fns := e.r.Pkg.Implementations(c)
	if len(fns) == 0 {
		return nil
	}
	e.ways = max(e.ways, len(fns))
	return fns[min(e.way, len(fns)-1)]
}

// variadic returns the values behind a variadic argument and where they are read:
// a list may be handed on as it came in.
func (e *eval) variadic(list ssa.Value, fr *frames) ([]ssa.Value, *frames, bool) {
	for list != nil && fr != nil {
		p, ok := list.(*ssa.Parameter)
		if !ok || fr.fn != ir.Origin(p.Parent()) {
			break
		}
		list, fr = origin.Arg(fr.call.Common(), slices.Index(p.Parent().Params, p)), fr.up
	}
	vals, ok := origin.Variadic(list)
	return vals, fr, ok
}

func (e *eval) sprint(c *ssa.Call, fr *frames, depth int) []string {
	return e.concat(c.Call.Args[0], fr, depth)
}

func (e *eval) concat(list ssa.Value, fr *frames, depth int) []string {
	args, fr, ok := e.variadic(list, fr)
	if !ok {
		return unknown
	}
	out := []string{""}
	for _, a := range args {
		out = cross(out, e.value(a, fr, depth))
	}
	return out
}

// sprintf expands verbs; explicit indices (%[1]s) too. A verb whose argument is
// not text becomes a hole, and so does one behind a hole of the format, which may
// have verbs of its own.
func (e *eval) sprintf(c *ssa.Call, fr *frames, depth int) []string {
	return e.format(c.Call.Args[0], c.Call.Args[1], fr, depth)
}

func (e *eval) format(format, list ssa.Value, fr *frames, depth int) []string {
	formats := e.value(format, fr, depth)
	args, fr, ok := e.variadic(list, fr)
	var out []string
	for _, f := range formats {
		parts := []string{""}
		next, holed := 0, false
		for f != "" {
			i := strings.IndexByte(f, '%')
			if i < 0 {
				parts = cross(parts, []string{f})
				break
			}
			parts = cross(parts, []string{f[:i]})
			holed = holed || !Known(f[:i])
			verb, idx, rest := scanVerb(f[i:])
			if strings.Contains(f[i:len(f)-len(rest)], "*") {
				parts = cross(parts, unknown) // a width among the arguments
				break
			}
			f = rest
			if verb == '%' {
				parts = cross(parts, []string{"%"})
				continue
			}
			if idx > 0 {
				next = idx - 1
			}
			arg := unknown
			if ok && next < len(args) && !holed {
				arg = e.value(args[next], fr, depth)
			}
			next++
			if verb == 'q' {
				q := make([]string, len(arg))
				for k, s := range arg {
					q[k] = `"` + s + `"`
				}
				arg = q
			}
			parts = cross(parts, arg)
		}
		out = e.union(out, parts)
	}
	return out
}

// scanVerb reads one verb at the start of f: its letter, its explicit argument
// number (0: none) and what follows it.
func scanVerb(f string) (verb byte, index int, rest string) {
	i := 1
	for i < len(f) {
		switch b := f[i]; {
		case b == '[':
			n := 0
			for i++; i < len(f) && f[i] != ']'; i++ {
				if f[i] >= '0' && f[i] <= '9' {
					n = n*10 + int(f[i]-'0')
				}
			}
			index = n
			i++
		case strings.IndexByte("+-# 0123456789.*", b) >= 0:
			i++
		default:
			return b, index, f[i+1:]
		}
	}
	return '%', 0, ""
}

func (e *eval) join(c *ssa.Call, fr *frames, depth int) []string {
	sep := e.value(c.Call.Args[1], fr, depth)
	list, fr, ok := e.variadic(c.Call.Args[0], fr)
	if !ok || len(list) == 0 {
		return unknown
	}
	var out []string
	for i, v := range list {
		if i == 0 {
			out = e.value(v, fr, depth)
			continue
		}
		out = cross(cross(out, sep), e.value(v, fr, depth))
	}
	return out
}

// joinPath joins the elements of a path; what path.Clean would change is left as it is.
func (e *eval) joinPath(c *ssa.Call, fr *frames, depth int) []string {
	list, ok := origin.Variadic(c.Call.Args[0])
	if !ok {
		return unknown
	}
	var out []string
	for i, v := range list {
		if i == 0 {
			out = e.value(v, fr, depth)
			continue
		}
		out = cross(cross(out, []string{"/"}), e.value(v, fr, depth))
	}
	return out
}

func (e *eval) replace(c *ssa.Call, fr *frames, depth int) []string {
	in := e.value(c.Call.Args[0], fr, depth)
	from := e.value(c.Call.Args[1], fr, depth)
	to := e.value(c.Call.Args[2], fr, depth)
	if len(from) != 1 || !Known(from[0]) || from[0] == "" {
		return unknown
	}
	var out []string
	for _, s := range in {
		for _, t := range to {
			out = e.union(out, []string{strings.ReplaceAll(s, from[0], t)})
		}
	}
	return out
}

// built reads a strings.Builder or bytes.Buffer that is a local variable, along
// every way from where it is made to where it is read. What a loop writes is a
// hole. One that is handed to somebody who may write to it is not known.
func (e *eval) built(c *ssa.Call, fr *frames, depth int) []string {
	root := origin.Root(e.r.Pkg, c.Call.Args[0])
	if root == nil || root.Referrers() == nil || root.Parent() != c.Parent() {
		return unknown
	}
	w := &written{e: e, root: root, writes: map[ssa.Instruction][]string{}, busy: map[*ssa.BasicBlock]bool{}}
	for _, in := range *root.Referrers() {
		switch in := in.(type) {
		case *ssa.Call:
			obj := ir.Object(&in.Call)
			if obj == nil || obj.Type().(*types.Signature).Recv() == nil || in.Call.Args[0] != root ||
				obj.Pkg().Path() != "strings" && obj.Pkg().Path() != "bytes" {
				return unknown
			}
			switch obj.Name() {
			case "WriteString":
				w.writes[in] = e.value(in.Call.Args[1], fr, depth)
			case "Write", "WriteByte", "WriteRune":
				w.writes[in] = unknown
			case "Reset":
				w.writes[in] = nil
			case "String", "Len", "Cap", "Grow":
			default:
				return unknown
			}
		case *ssa.MakeInterface:
			for _, use := range *in.Referrers() {
				call, ok := use.(*ssa.Call)
				if !ok {
					return unknown
				}
				if w.writes[call], ok = e.printed(call, in, fr, depth); !ok {
					return unknown
				}
			}
		case *ssa.DebugRef:
		default:
			return unknown
		}
	}
	return w.before(c.Block(), c)
}

// written follows what is written to one variable.
type written struct {
	e      *eval
	root   *ssa.Alloc
	writes map[ssa.Instruction][]string // nil: what was written is dropped
	busy   map[*ssa.BasicBlock]bool
}

// before returns the texts at instruction end of b (nil: at its end).
func (w *written) before(b *ssa.BasicBlock, end ssa.Instruction) []string {
	out := []string{""}
	if b != w.root.Block() {
		out = w.entry(b)
	}
	looped := w.loops(b)
	for _, in := range b.Instrs {
		if in == end {
			break
		}
		switch texts, ok := w.writes[in]; {
		case !ok:
		case texts == nil:
			out = []string{""}
		case looped: // the hole at the loop's start stands for it
		default:
			out = cross(out, texts)
		}
	}
	return out
}

func (w *written) entry(b *ssa.BasicBlock) []string {
	if w.busy[b] {
		return unknown
	}
	w.busy[b] = true
	defer delete(w.busy, b)
	writes := false
	for in := range w.writes {
		writes = writes || w.reaches(b, in.Block()) && w.reaches(in.Block(), b)
	}
	var out []string
	head := false
	for _, p := range b.Preds {
		if w.reaches(b, p) {
			continue
		}
		head = true
		out = w.e.union(out, w.before(p, nil))
	}
	switch {
	case head && writes:
		return cross(out, unknown)
	case head:
		return out
	}
	for _, p := range b.Preds {
		out = w.e.union(out, w.before(p, nil))
	}
	if out == nil {
		return unknown
	}
	return out
}

func (w *written) loops(b *ssa.BasicBlock) bool { return b != w.root.Block() && w.reaches(b, b) }

// reaches tells whether control can go from a to b without making the variable
// anew.
func (w *written) reaches(a, b *ssa.BasicBlock) bool {
	seen := map[*ssa.BasicBlock]bool{w.root.Block(): true}
	todo := slices.Clone(a.Succs)
	for len(todo) > 0 {
		x := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[x] {
			continue
		}
		if x == b {
			return true
		}
		seen[x] = true
		todo = append(todo, x.Succs...)
	}
	return false
}

// printed returns what call, one of fmt's or a template's, prints to the writer w.
func (e *eval) printed(call *ssa.Call, w ssa.Value, fr *frames, depth int) ([]string, bool) {
	if out, ok := e.executed(call, w, fr, depth); ok {
		return out, true
	}
	obj := ir.Object(&call.Call)
	if obj == nil || len(call.Call.Args) < 2 || call.Call.Args[0] != w {
		return nil, false
	}
	switch obj.FullName() {
	case "fmt.Fprintf":
		return e.format(call.Call.Args[1], call.Call.Args[2], fr, depth), true
	case "fmt.Fprint":
		return e.concat(call.Call.Args[1], fr, depth), true
	case "io.WriteString":
		return e.value(call.Call.Args[1], fr, depth), true
	}
	return nil, false
}
