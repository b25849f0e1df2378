// Package sink answers one question: does this call change something outside
// the process, and does the call itself compare before it changes?
package sink

import (
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/origin"
	"github.com/fencelint/fence/analyzers/internal/sqltext"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// Judgement says what a write compares.
type Judgement int

// The judgements. Unclear means that part of the call is out of sight.
const (
	NotAWrite Judgement = iota
	Plain               // changes the store whatever is there
	Compared            // the store compares in the same step
	Unclear
)

// Site is one call of a store.
type Site struct {
	Call    ssa.CallInstruction
	Spec    Spec
	Texts   []string         // the SQL, the script or the key, as far as known
	Scripts []sqlstmt.Script // of an SQL site, one for each text
	Style   sqlstmt.Style    // how the texts bind values
	Handle  ssa.Value        // what the call was made on: a database, a transaction
	Judge   Judgement
	Verb    string // UPDATE, Set, PutObject
	Target  string // the table, the key, the kind of object, for people and for grouping
	// StrictOnly: counts only under strict (Kubernetes Create, Delete, Patch).
	StrictOnly bool
	Insert     bool // an INSERT that only adds
	Object     ssa.Value
	Names      []string // further names that describe what is read or written: attributes of a key
	// Params are what a builder binds, in the order of the statement; nil: not known.
	Params []ssa.Value
}

// Reader finds the sites of one package.
type Reader struct {
	Pkg     *ir.Package
	Text    *sqltext.Reader
	Trace   *origin.Tracer
	Dialect sqlstmt.Dialect
	// Wrapper gives the spec of a function of another package that passes one of
	// its parameters on as SQL or as a script; nil: none is known.
	Wrapper func(*types.Func) (Spec, bool)
	// Declared tells whether fence.yaml names f as a write of one of the keys, and
	// the resource; Fenced whether it says that f compares by itself.
	Declared func(f *types.Func, keys []string) (string, bool)
	Fenced   func(*types.Func) bool
	// Token tells whether fence.yaml names a column as a token or an identity.
	Token func(table, column string) bool

	wrappers map[*ssa.Function]*Spec
	rendered map[*ssa.Function]ssa.Value // of a wrapper that makes its text of a parameter: the text
	scripts  map[string]sqlstmt.Script
	sites    map[ssa.CallInstruction]*Site // of builders
}

// Spec returns what c does to a store, looking through wrappers.
func (r *Reader) Spec(c *ssa.CallCommon) (Spec, bool) {
	obj := ir.Object(c)
	if obj == nil {
		return Spec{}, false
	}
	if s, ok := Find(obj); ok {
		return s, true
	}
	if callee := ir.Callee(c); callee != nil && callee.Pkg == r.Pkg.SSA {
		return r.wrapper(callee)
	}
	if r.Wrapper != nil {
		return r.Wrapper(obj)
	}
	return Spec{}, false
}

// textOf returns the SQL text or the script that a call sends, or nil.
func textOf(c *ssa.CallCommon, s Spec) ssa.Value {
	if s.Self {
		return Receiver(c)
	}
	return Arg(c, s.Text)
}

func onlyStore(a *ssa.Alloc) ssa.Value {
	var val ssa.Value
	for _, in := range *a.Referrers() {
		if st, ok := in.(*ssa.Store); ok && st.Addr == a {
			if val != nil {
				return nil
			}
			val = st.Val
		}
	}
	return val
}

// Arg returns argument i of c, the receiver not counted, or nil.
func Arg(c *ssa.CallCommon, i int) ssa.Value {
	if i < 0 {
		return nil
	}
	if !c.IsInvoke() && c.Signature().Recv() != nil {
		i++
	}
	if i >= len(c.Args) {
		return nil
	}
	return c.Args[i]
}

// Receiver returns what c was called on, or nil.
func Receiver(c *ssa.CallCommon) ssa.Value {
	if c.IsInvoke() {
		return c.Value
	}
	if c.Signature().Recv() != nil && len(c.Args) > 0 {
		return c.Args[0]
	}
	return nil
}

// Site returns what call does, or nil if it is no call of a store here: a call
// whose SQL text is a parameter of its function is the caller's site.
func (r *Reader) Site(call ssa.CallInstruction) *Site {
	c := call.Common()
	obj := ir.Object(c)
	if obj == nil {
		return nil
	}
	if s := r.builtSite(call); s != nil {
		return s
	}
	if s := r.opaqueSite(call); s != nil {
		return s
	}
	spec, known := r.Spec(c)
	if r.Fenced != nil && r.Fenced(obj) {
		return &Site{Call: call, Spec: Spec{Store: Declared, Op: Conditional, Text: -1, Args: -1, Key: -1, Input: -1},
			Judge: Compared, Verb: obj.Name(), Handle: Receiver(c)}
	}
	if !known {
		return r.declaredSite(call, obj)
	}
	s := &Site{Call: call, Spec: spec, Handle: Receiver(c), Verb: spec.Verb}
	switch {
	case spec.Store == SQL && spec.HasText():
		return r.sqlSite(s)
	case spec.Op == Script:
		return r.scriptSite(s)
	case spec.Op == Transaction:
		r.transactionSite(s)
	case spec.Op == Filtered:
		r.filteredSite(s)
	case isRueidis(obj):
		return r.rueidisSite(s)
	case spec.Input >= 0:
		r.requestSite(s)
	default:
		if k := Arg(c, spec.Key); k != nil {
			s.Texts = r.Keys(k)
		}
		s.Target = show(s.Texts)
		if r.ifAbsent(c, spec) {
			s.Spec.Op = Claim
		}
		s.Judge = judgeOp(s.Spec.Op)
		if s.Judge == Plain && spec.Unless != "" {
			s.Judge = r.unless(s)
		}
	}
	return s
}

// ifAbsent tells whether the options of a call say that it only writes what is not
// there: redis.SetArgs{Mode: "NX"}.
func (r *Reader) ifAbsent(c *ssa.CallCommon, spec Spec) bool {
	if spec.Options == 0 {
		return false
	}
	ld, ok := Arg(c, spec.Options).(*ssa.UnOp)
	if !ok {
		return false
	}
	root := origin.Root(r.Pkg, ld.X)
	return root != nil && slices.ContainsFunc(r.fieldValues(root, "Mode"), func(v ssa.Value) bool {
		k, ok := v.(*ssa.Const)
		return ok && k.Value != nil && k.Value.Kind() == constant.String && strings.EqualFold(constant.StringVal(k.Value), "NX")
	})
}

func judgeOp(op Op) Judgement {
	switch op {
	case Put, Remove:
		return Plain
	case Append:
		return Unclear // overwrites nothing: at worst something is there twice
	case Claim, Conditional, Script:
		return Compared
	}
	return NotAWrite
}

// declaredSite is a call that only fence.yaml knows to be a write.
func (r *Reader) declaredSite(call ssa.CallInstruction, obj *types.Func) *Site {
	if r.Declared == nil || obj.Pkg() != nil && obj.Pkg().Path() == etcdPath && obj.Name() == "Txn" {
		return nil // a transaction is judged where it is committed
	}
	if _, ok := r.Declared(obj, nil); !ok {
		return nil
	}
	keys := r.declaredKeys(call.Common())
	name, ok := r.Declared(obj, keys)
	if !ok {
		return nil
	}
	return &Site{Call: call, Spec: Spec{Store: Declared, Op: Put, Text: -1, Args: -1, Key: -1, Input: -1}, Judge: Plain,
		Verb: obj.Name(), Target: name, Handle: Receiver(call.Common()), Texts: keys}
}

func (r *Reader) declaredKeys(c *ssa.CallCommon) []string {
	for _, a := range c.Args {
		if isString(a.Type()) {
			return r.Text.Texts(a)
		}
	}
	return nil
}

// Keys returns the texts of a key, or of each of a variadic or listed set of keys.
func (r *Reader) Keys(v ssa.Value) []string {
	if _, ok := v.Type().Underlying().(*types.Slice); ok {
		vals, ok := origin.Variadic(v)
		if !ok {
			return []string{sqlstmt.Hole}
		}
		var out []string
		for _, x := range vals {
			out = append(out, r.Text.Texts(x)...)
		}
		return out
	}
	return r.Text.Texts(v)
}

// show writes the first of some keys for a person, "" if nothing of it is known.
func show(texts []string) string {
	if len(texts) == 0 || strings.Trim(texts[0], sqlstmt.Hole) == "" {
		return ""
	}
	return strings.ReplaceAll(texts[0], sqlstmt.Hole, "…")
}

// Elements returns the values in a list of arguments or a slice literal.
func (r *Reader) Elements(v ssa.Value) []ssa.Value {
	vals, _ := origin.Variadic(v)
	return vals
}

// Parse parses one SQL text of this package.
func (r *Reader) Parse(text string, style sqlstmt.Style) sqlstmt.Script {
	if s, ok := r.scripts[text]; ok {
		return s
	}
	s := sqlstmt.Parse(text, r.Dialect, sqlstmt.Options{Placeholders: style})
	if r.scripts == nil {
		r.scripts = map[string]sqlstmt.Script{}
	}
	r.scripts[text] = s
	return s
}

// Reuse takes over the texts that o, a reader of the same package, has parsed.
func (r *Reader) Reuse(o *Reader) {
	if r.Dialect == o.Dialect {
		r.scripts = o.scripts
	}
}

func (r *Reader) sqlSite(s *Site) *Site {
	arg := textOf(s.Call.Common(), s.Spec)
	if arg == nil {
		return nil
	}
	if s.Spec.Self {
		s.Handle = r.preparer(arg)
	}
	p := passedOn(arg)
	if p == nil {
		p = startsWith(arg, 0)
	}
	if p != nil && p.Parent().Parent() == nil {
		if _, ok := r.wrapper(p.Parent()); ok {
			return nil
		}
	}
	s.Texts = r.Text.Texts(arg)
	if callee := ir.Callee(s.Call.Common()); callee != nil && r.rendered[callee] != nil {
		s.Texts = r.Text.TextsAt(r.rendered[callee], s.Call)
	}
	for _, t := range s.Texts {
		if strings.Contains(t, "?") && !strings.Contains(t, "$1") && !numbered.MatchString(t) {
			s.Style = sqlstmt.Question
		}
		if strings.HasPrefix(s.Spec.Verb, "Named") || (strings.Contains(t, "@") && !strings.Contains(t, "$1")) {
			s.Style = sqlstmt.Named
		}
		s.Scripts = append(s.Scripts, r.Parse(t, s.Style))
	}
	r.judgeSQL(s)
	return s
}

// preparer returns what a statement was prepared on, or the statement where that is
// out of sight.
func (r *Reader) preparer(stmt ssa.Value) ssa.Value {
	on := stmt
	r.Trace.Walk(stmt, func(v, out ssa.Value) ([]ssa.Value, bool) {
		c, ok := v.(*ssa.Call)
		if !ok || out != nil {
			return nil, out != nil
		}
		if callee := ir.Callee(&c.Call); callee != nil && callee.Pkg == r.Pkg.SSA {
			return nil, false
		}
		if recv := Receiver(&c.Call); recv != nil && on == stmt {
			on = recv
		}
		return nil, true
	})
	return on
}

// numbered is SQLite's own form of a placeholder, ?1.
var numbered = regexp.MustCompile(`\?[0-9]`)

// judgeSQL sums up all texts that can get here: plain if one of them is plain,
// compared if all that write compare.
func (r *Reader) judgeSQL(s *Site) {
	var targets, verbs []string
	compared, unclear, plain, insert := 0, 0, 0, 0
	for _, sc := range s.Scripts {
		for _, st := range sc.Stmts {
			for _, w := range st.Writes {
				if w.Table.Temp {
					continue
				}
				switch JudgeWrite(w, r.Token) {
				case Compared:
					compared++
				case Unclear:
					unclear++
				case Plain:
					plain++
					if w.Op == sqlstmt.Insert && !w.Replace && w.Conflict == nil {
						insert++
					}
				}
				targets = append(targets, strings.ReplaceAll(w.Table.Name, sqlstmt.Hole, "…"))
				verbs = append(verbs, VerbOf(w.Op))
			}
		}
	}
	switch {
	case plain > 0 && unclear == 0:
		s.Judge = Plain
		s.Insert = insert == plain
	case plain > 0 || unclear > 0:
		s.Judge = Unclear
	case compared > 0:
		s.Judge = Compared
	}
	if len(targets) > 0 {
		s.Target, s.Verb = targets[0], verbs[0]
	}
}

// VerbOf names an operation as SQL does.
func VerbOf(op sqlstmt.Op) string {
	return map[sqlstmt.Op]string{sqlstmt.Insert: "INSERT", sqlstmt.Update: "UPDATE", sqlstmt.Delete: "DELETE",
		sqlstmt.Merge: "MERGE", sqlstmt.Copy: "COPY", sqlstmt.Truncate: "TRUNCATE"}[op]
}

// requestSite judges a call whose key and condition are fields of a struct.
func (r *Reader) requestSite(s *Site) {
	in := Arg(s.Call.Common(), s.Spec.Input)
	s.Object = in
	if k := Arg(s.Call.Common(), s.Spec.Key); k != nil {
		s.Texts = r.Keys(k)
		s.Target = show(s.Texts)
	}
	if s.Spec.Store == Kubernetes {
		r.kubernetesSite(s)
		return
	}
	s.Judge = judgeOp(s.Spec.Op)
	if k, ok := in.(*ssa.Const); ok && k.Value == nil {
		return // no options
	}
	root := origin.Root(r.Pkg, in)
	if root == nil {
		if ld, ok := in.(*ssa.UnOp); ok && ld.Op == token.MUL {
			root = origin.Root(r.Pkg, ld.X)
		}
	}
	if root == nil {
		if s.Judge == Plain {
			s.Judge = Unclear
		}
		return
	}
	for _, name := range keyFields[s.Spec.Store] {
		for _, v := range r.fieldValues(root, name) {
			s.Texts = append(s.Texts, r.Text.Texts(v)...)
		}
	}
	s.Target = show(s.Texts)
	for _, v := range r.fieldValues(root, "Key") {
		s.Names = append(s.Names, r.MapKeys(v)...)
	}
	if s.Judge != Plain {
		return
	}
	for _, name := range conditionFields[s.Spec.Store] {
		if len(r.fieldValues(root, name)) > 0 {
			s.Judge = Compared
			return
		}
	}
	for _, in := range *root.Referrers() {
		if c, ok := in.(*ssa.Call); ok && c != s.Call && slices.Contains(c.Call.Args, ssa.Value(root)) {
			s.Judge = Unclear // a helper may add the condition
			return
		}
	}
}

// KeyOf returns the key of what a site reads or writes, or nil: an argument, or a
// field of its request.
func (r *Reader) KeyOf(s *Site) ssa.Value {
	if k := Arg(s.Call.Common(), s.Spec.Key); k != nil {
		if vals, ok := origin.Variadic(k); ok && len(vals) > 0 {
			return vals[0]
		}
		return k
	}
	for _, name := range keyFields[s.Spec.Store] {
		for _, v := range r.FieldValues(s, name) {
			return v
		}
	}
	return nil
}

// MapKeys returns the constant keys of the maps that v can be, sorted.
func (r *Reader) MapKeys(v ssa.Value) []string {
	var out []string
	r.Trace.Walk(v, func(v, filled ssa.Value) ([]ssa.Value, bool) {
		mk, ok := v.(*ssa.MakeMap)
		if !ok {
			return nil, filled != nil
		}
		for _, u := range updates(mk) {
			if k, ok := constString(u.Key); ok {
				out = append(out, k)
			}
		}
		return nil, true
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// FieldValues returns what is stored into the named field of the request that a
// site sends.
func (r *Reader) FieldValues(s *Site, name string) []ssa.Value {
	root := origin.Root(r.Pkg, s.Object)
	if root == nil {
		return nil
	}
	return r.fieldValues(root, name)
}

// fieldValues returns what is stored into the named field of the variable root.
func (r *Reader) fieldValues(root *ssa.Alloc, name string) []ssa.Value {
	t := root.Type().Underlying().(*types.Pointer).Elem()
	st, ok := t.Underlying().(*types.Struct)
	if !ok {
		if p, isPtr := t.Underlying().(*types.Pointer); isPtr {
			st, ok = p.Elem().Underlying().(*types.Struct)
		}
		if !ok {
			return nil
		}
	}
	var out []ssa.Value
	for i := range st.NumFields() {
		if st.Field(i).Name() != name {
			continue
		}
		for _, f := range r.Pkg.Stores(st.Field(i)) {
			if origin.Root(r.Pkg, f.Addr.X) == root {
				out = append(out, unwrap(f.Store.Val))
			} else if ld, ok := f.Addr.X.(*ssa.UnOp); ok && origin.Root(r.Pkg, ld.X) == root {
				out = append(out, unwrap(f.Store.Val))
			}
		}
	}
	return out
}

// unwrap looks through aws.String and its like.
func unwrap(v ssa.Value) ssa.Value {
	if c, ok := v.(*ssa.Call); ok && !c.Call.IsInvoke() && len(c.Call.Args) == 1 {
		if o := ir.Object(&c.Call); o != nil && o.Name() == "String" {
			return c.Call.Args[0]
		}
	}
	return v
}
