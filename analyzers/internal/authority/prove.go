package authority

import (
	"go/constant"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/lease"
	"github.com/fencelint/fence/analyzers/internal/origin"
	"github.com/fencelint/fence/analyzers/internal/record"
	"github.com/fencelint/fence/analyzers/internal/sink"
	"github.com/fencelint/fence/internal/sqlstmt"
)

const maxProve = 12

// prove returns the evidence that follows from v having the truth value want.
// other is the block taken in the opposite case.
func (r *Reader) prove(v ssa.Value, want bool, other *ssa.BasicBlock, depth int) []Evidence {
	if depth > maxProve {
		return nil
	}
	switch v := v.(type) {
	case *ssa.UnOp:
		switch v.Op {
		case token.NOT:
			return r.prove(v.X, !want, other, depth+1)
		case token.MUL:
			return r.proveLoad(v, want, other, depth)
		}
	case *ssa.Phi:
		return r.provePhi(v, want, other, depth)
	case *ssa.BinOp:
		return r.proveBinary(v, want, other, depth)
	case *ssa.Call:
		return r.proveCall(v, 0, want, other, depth)
	case *ssa.Extract:
		if c, ok := v.Tuple.(*ssa.Call); ok {
			return r.proveCall(c, v.Index, want, other, depth)
		}
	}
	return nil
}

// provePhi: a && b is true only if both are; its other edges are the constant
// false. With want false the same holds for a || b.
func (r *Reader) provePhi(v *ssa.Phi, want bool, other *ssa.BasicBlock, depth int) []Evidence {
	var out []Evidence
	live := 0
	for i, e := range v.Edges {
		if c, ok := e.(*ssa.Const); ok && c.Value != nil && c.Value.Kind() == constant.Bool {
			if constant.BoolVal(c.Value) == want {
				// This edge gives the answer by itself: what led to it must prove it.
				evs := r.edge(v.Block().Preds[i], v.Block(), other, depth)
				if len(evs) == 0 {
					return nil
				}
				out = append(out, evs...)
			}
			continue
		}
		live++
		evs := r.prove(e, want, other, depth+1)
		evs = append(evs, r.edge(v.Block().Preds[i], v.Block(), other, depth)...)
		if len(evs) == 0 {
			return nil
		}
		out = append(out, evs...)
	}
	return out
}

// edge returns what taking the branch from b to succ proves, if b ends in one.
func (r *Reader) edge(b, succ, other *ssa.BasicBlock, depth int) []Evidence {
	if len(b.Instrs) == 0 {
		return nil
	}
	in, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If)
	if !ok {
		if len(b.Preds) == 1 && depth < maxProve {
			return r.edge(b.Preds[0], b, other, depth+1)
		}
		return nil
	}
	if b.Succs[0] == b.Succs[1] {
		return nil
	}
	return r.prove(in.Cond, b.Succs[0] == succ, other, depth+1)
}

// proveLoad: a flag set where ownership was proven, or a bool a query filled in.
func (r *Reader) proveLoad(v *ssa.UnOp, want bool, other *ssa.BasicBlock, depth int) []Evidence {
	if want {
		for _, d := range r.Record.Of(v) {
			if ev, ok := r.queried(d); ok {
				return []Evidence{ev}
			}
		}
	}
	if fa, ok := v.X.(*ssa.FieldAddr); ok && want {
		if ev := r.flag(ir.FieldOf(fa.X.Type(), fa.Field)); ev != nil {
			e := *ev
			e.Pos = v.Pos()
			return []Evidence{e}
		}
		return nil
	}
	root := origin.Root(r.Pkg, v.X)
	if root == nil {
		return nil
	}
	// A local variable kept in memory: every value it is given must prove it, the
	// opposite constant aside.
	var out []Evidence
	for _, in := range origin.Writes(r.Pkg, root) {
		st, ok := in.(*ssa.Store)
		if !ok {
			return nil
		}
		if c, ok := st.Val.(*ssa.Const); ok && c.Value != nil && c.Value.Kind() == constant.Bool && constant.BoolVal(c.Value) != want {
			continue
		}
		evs := r.prove(st.Val, want, other, depth+1)
		if len(evs) == 0 {
			return nil
		}
		out = append(out, evs...)
	}
	return out
}

// queried: a SELECT whose condition compares a token or an owner with a bound
// value, or that takes an advisory lock.
func (r *Reader) queried(d record.Datum) (Evidence, bool) {
	if d.Read == nil || d.Spec.Store != sink.SQL {
		return Evidence{}, false
	}
	site := r.Sink.Site(d.Read)
	if site == nil {
		return Evidence{}, false
	}
	if ev, ok := r.advisory(d.Read, site); ok {
		return ev, true
	}
	return r.selected(d.Read, site)
}

// sessionLocks are functions that take a lock which lives as long as the
// connection.
var sessionLocks = []string{"pg_advisory_lock", "pg_try_advisory_lock", "get_lock"}

func (r *Reader) advisory(c *ssa.Call, site *sink.Site) (Evidence, bool) {
	for _, sc := range site.Scripts {
		for _, st := range sc.Stmts {
			for _, f := range st.Funcs {
				if slices.Contains(sessionLocks, f) {
					return Evidence{Kind: Acquired, Pos: c.Pos(), What: f, Handle: site.Handle, Session: true}, true
				}
			}
		}
	}
	return Evidence{}, false
}

func (r *Reader) selected(c *ssa.Call, site *sink.Site) (Evidence, bool) {
	for _, sc := range site.Scripts {
		for _, st := range sc.Stmts {
			if st.Query == nil {
				continue
			}
			var ev Evidence
			found := false
			each := func(q *sqlstmt.Query) {
				for _, cond := range q.Where {
					col, val := cond.Left, cond.Right
					if col.Kind != sqlstmt.Column {
						col, val = val, col
					}
					if col.Kind == sqlstmt.Column && val.Kind == sqlstmt.Param && cond.Op != "<>" &&
						(lease.IsTokenName(col.Name) || lease.IsHolderName(col.Name)) && r.mine(site, val) {
						table := ""
						if len(q.From) > 0 {
							table = q.From[0].Name
						}
						ev = Evidence{Kind: TokenCompared, Pos: c.Pos(), What: join(table, col.Name), Table: table, Column: col.Name,
							Handle: site.Handle, Held: q.Lock >= sqlstmt.ForShare || st.Query.Lock >= sqlstmt.ForShare}
						found = true
					}
				}
			}
			each(st.Query)
			for _, o := range st.Query.Output {
				if o.Sub != nil {
					each(o.Sub)
				}
			}
			if found {
				return ev, true
			}
		}
	}
	return Evidence{}, false
}

func join(table, column string) string {
	if table == "" {
		return column
	}
	return table + "." + column
}

// mine tells whether the value bound to parameter p did not come in with a
// request and is no user.
func (r *Reader) mine(site *sink.Site, p sqlstmt.Expr) bool {
	v := r.Bound(site, p)
	if v == nil {
		return false
	}
	if r.Record.FromRequest(v) {
		return false
	}
	return !foreignValue(v)
}

// Bound returns the value bound to parameter p of an SQL site, or nil.
func (r *Reader) Bound(site *sink.Site, p sqlstmt.Expr) ssa.Value {
	if site.Spec.Args < 0 {
		return nil
	}
	arg := sink.Arg(site.Call.Common(), site.Spec.Args)
	if arg == nil {
		return nil
	}
	vals, ok := origin.Variadic(r.Pkg, arg)
	if n, err := strconv.Atoi(p.Name); err == nil {
		p.Name, p.N = "", n // SQLite calls $1 a name; drivers bind it by position
	}
	if p.Name != "" {
		for _, v := range append(vals, arg) {
			if b := r.named(v, p.Name); b != nil {
				return b
			}
		}
		return nil
	}
	if !ok || p.N < 1 || p.N > len(vals) {
		return nil
	}
	return vals[p.N-1]
}

// named finds the value of a named parameter: an entry of a map literal, or the
// field of a struct with that db tag.
func (r *Reader) named(v ssa.Value, name string) ssa.Value {
	for {
		switch x := v.(type) {
		case *ssa.MakeInterface:
			v = x.X
			continue
		case *ssa.ChangeType:
			v = x.X
			continue
		case *ssa.Alloc:
			return r.tagged(x, name)
		case *ssa.UnOp:
			if root := origin.Root(r.Pkg, x.X); root != nil && x.Op == token.MUL {
				return r.tagged(root, name)
			}
		case *ssa.MakeMap:
			for _, in := range *x.Referrers() {
				u, ok := in.(*ssa.MapUpdate)
				if !ok {
					continue
				}
				if c, ok := u.Key.(*ssa.Const); ok && c.Value != nil && c.Value.Kind() == constant.String && constant.StringVal(c.Value) == name {
					return u.Value
				}
			}
		}
		return nil
	}
}

// tagged returns what the field with db tag name of a local struct is set to.
func (r *Reader) tagged(root *ssa.Alloc, name string) ssa.Value {
	for _, in := range *root.Referrers() {
		fa, ok := in.(*ssa.FieldAddr)
		if !ok || reflect.StructTag(ir.TagOf(fa.X.Type(), fa.Field)).Get("db") != name {
			continue
		}
		for _, use := range *fa.Referrers() {
			if st, ok := use.(*ssa.Store); ok && st.Addr == fa {
				return st.Val
			}
		}
	}
	return nil
}

// flag tells whether a bool field is set only where ownership was proven.
func (r *Reader) flag(f *types.Var) *Evidence {
	if f == nil {
		return nil
	}
	if ev, ok := r.flags[f]; ok {
		return ev
	}
	r.flags[f] = nil
	var ev *Evidence
	for _, s := range r.Pkg.Stores(f) {
		if isFalse(s.Store.Val) {
			continue
		}
		if !isTrue(s.Store.Val) {
			return nil
		}
		e := r.provenAt(s.Store)
		if e == nil {
			return nil
		}
		ev = e
	}
	if e := r.atomicFlag(f); e != nil {
		ev = e
	}
	r.flags[f] = ev
	return ev
}

// atomicFlag does the same for an atomic.Bool.
func (r *Reader) atomicFlag(f *types.Var) *Evidence {
	if !ir.IsNamed(f.Type(), "sync/atomic", "Bool") {
		return nil
	}
	var ev *Evidence
	for _, c := range r.Pkg.FieldCalls(f, "Store") {
		if len(c.Common().Args) < 2 || isFalse(c.Common().Args[1]) {
			continue
		}
		if !isTrue(c.Common().Args[1]) {
			return nil
		}
		e := r.provenAt(c)
		if e == nil {
			return nil
		}
		ev = e
	}
	return ev
}

func (r *Reader) provenAt(in ssa.Instruction) *Evidence {
	for _, reg := range r.Regions(in.Parent()) {
		if reg.Contains(in) && !reg.Ev.Weak && !reg.Ev.Held && reg.Ev.Kind != Absent {
			ev := reg.Ev
			return &ev
		}
	}
	return nil
}

func isTrue(v ssa.Value) bool  { return isBool(v, true) }
func isFalse(v ssa.Value) bool { return isBool(v, false) }

func isBool(v ssa.Value, b bool) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.Value != nil && c.Value.Kind() == constant.Bool && constant.BoolVal(c.Value) == b
}

func isNil(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.Value == nil
}

func (r *Reader) proveBinary(v *ssa.BinOp, want bool, other *ssa.BasicBlock, depth int) []Evidence {
	x, y := v.X, v.Y
	if isNil(x) || isTrue(x) || isFalse(x) || isConst(x) && !isConst(y) {
		x, y = y, x
	}
	switch v.Op {
	case token.EQL, token.NEQ:
		same := want == (v.Op == token.EQL)
		switch {
		case isNil(y):
			if isError(x.Type()) {
				if same {
					return r.proveNil(x, depth)
				}
				return nil
			}
			if same {
				return r.absent(x)
			}
			return r.declared(x)
		case isTrue(y), isFalse(y):
			return r.prove(x, same == isTrue(y), other, depth+1)
		}
		if ev, ok := r.notLost(x, y, same); ok {
			return []Evidence{ev}
		}
		if evs := r.counted(v, x, y, want); evs != nil {
			return evs
		}
		if same {
			return r.compared(v.Pos(), x, y, true, other)
		}
		return nil
	case token.LSS, token.GTR, token.LEQ, token.GEQ:
		if evs := r.counted(v, x, y, want); evs != nil {
			return evs
		}
		less := v.Op == token.LSS || v.Op == token.LEQ
		if ev, ok := r.expiryAgainst(v.Pos(), v.Y, v.X, less == want); ok { // now < expiry
			return []Evidence{ev}
		}
		if ev, ok := r.expiryAgainst(v.Pos(), v.X, v.Y, less != want); ok { // expiry > now
			return []Evidence{ev}
		}
		if bails(other) {
			// A stored token that is larger says that somebody else owns it.
			low, high := v.X, v.Y
			if want == (v.Op == token.GTR || v.Op == token.GEQ) {
				low, high = high, low
			}
			return r.comparedWith(v.Pos(), low, high, false)
		}
	}
	return nil
}

// notLost: a select that does not block found the channel that a lock gave out
// for its loss still open.
func (r *Reader) notLost(x, y ssa.Value, same bool) (Evidence, bool) {
	ex, ok := x.(*ssa.Extract)
	n, isInt := intConst(y)
	if !ok || !isInt || same || ex.Index != 0 {
		return Evidence{}, false
	}
	sel, ok := ex.Tuple.(*ssa.Select)
	if !ok || sel.Blocking || n < 0 || int(n) >= len(sel.States) {
		return Evidence{}, false
	}
	var ev Evidence
	r.Sink.Trace.Walk(sel.States[n].Chan, func(v, out ssa.Value) ([]ssa.Value, bool) {
		c, isCall := v.(*ssa.Call)
		if !isCall {
			return nil, false
		}
		obj := ir.Object(&c.Call)
		l, known := lease.Find(obj)
		if known && (l.Kind == lease.Acquire || l.Kind == lease.Lost) || obj != nil && r.Lost != nil && r.Lost(obj) {
			ev = Evidence{Kind: Checked, Pos: sel.States[n].Pos, What: callName(&c.Call) + "'s loss channel"}
		}
		return nil, true
	})
	return ev, ev.What != ""
}

func isConst(v ssa.Value) bool { _, ok := v.(*ssa.Const); return ok }

func isError(t types.Type) bool {
	return types.Identical(t, types.Universe.Lookup("error").Type())
}

// bails tells whether a block leads straight out of the function or the loop
// without calling a store.
func bails(b *ssa.BasicBlock) bool {
	for range 4 {
		if b == nil || len(b.Instrs) == 0 {
			return false
		}
		switch b.Instrs[len(b.Instrs)-1].(type) {
		case *ssa.Return, *ssa.Panic:
			return true
		case *ssa.Jump:
			if b.Succs[0].Index <= b.Index {
				return true // continue
			}
			b = b.Succs[0]
		default:
			return false
		}
	}
	return false
}

// counted: a row count that says that a claim statement matched, or the length
// of what a lookup of lock records found.
func (r *Reader) counted(v *ssa.BinOp, x, y ssa.Value, want bool) []Evidence {
	n, ok := intConst(y)
	if !ok {
		return nil
	}
	zero := zeroOnly(v, x, n, want)
	if call, ok := x.(*ssa.Call); ok {
		if b, ok := call.Call.Value.(*ssa.Builtin); ok && b.Name() == "len" {
			if zero {
				return append(r.absent(call.Call.Args[0]), r.declared(call.Call.Args[0])...)
			}
			return r.declared(call.Call.Args[0])
		}
	}
	if zero {
		return r.absent(x)
	}
	return r.claimed(x)
}

// zeroOnly tells whether the comparison leaves only zero (or less) for x.
func zeroOnly(v *ssa.BinOp, x ssa.Value, n int64, want bool) bool {
	op := v.Op
	if v.X != x { // the constant stood on the left
		op = map[token.Token]token.Token{token.LSS: token.GTR, token.GTR: token.LSS, token.LEQ: token.GEQ, token.GEQ: token.LEQ,
			token.EQL: token.EQL, token.NEQ: token.NEQ}[op]
	}
	switch op {
	case token.EQL:
		return want == (n == 0)
	case token.NEQ:
		return want == (n != 0)
	case token.GTR:
		return !want && n == 0
	case token.GEQ:
		return !want && n == 1
	case token.LSS:
		return want && n == 1
	case token.LEQ:
		return want && n == 0
	}
	return false
}

func intConst(v ssa.Value) (int64, bool) {
	c, ok := v.(*ssa.Const)
	if !ok || c.Value == nil || c.Value.Kind() != constant.Int {
		return 0, false
	}
	return constant.Int64Val(c.Value)
}

// claimed: x is the row count of a statement that claims a lock row.
func (r *Reader) claimed(x ssa.Value) []Evidence {
	if !r.Pkg.Calls("RowsAffected") {
		return nil
	}
	var out []Evidence
	r.Sink.Trace.Walk(x, func(v, addr ssa.Value) ([]ssa.Value, bool) {
		c, ok := v.(*ssa.Call)
		if !ok || addr != nil {
			return nil, addr != nil
		}
		if obj := ir.Object(&c.Call); obj != nil && obj.Name() == "RowsAffected" {
			return []ssa.Value{sink.Receiver(&c.Call)}, true
		}
		if ev, ok := r.claim(c); ok {
			out = append(out, ev)
		}
		return nil, false
	})
	return out
}

// claim tells whether an SQL call claims a row of a lock table: it stores an
// owner or an expiry there under a condition.
func (r *Reader) claim(c *ssa.Call) (Evidence, bool) {
	if s, ok := r.Sink.Spec(&c.Call); !ok || s.Store != sink.SQL {
		return Evidence{}, false
	}
	site := r.Sink.Site(c)
	if site == nil || site.Judge != sink.Compared {
		return Evidence{}, false
	}
	for _, sc := range site.Scripts {
		for _, st := range sc.Stmts {
			for _, w := range st.Writes {
				if !lease.Ownership.Has(w.Table.Name) {
					continue
				}
				for _, col := range assigned(w) {
					if lease.IsHolderName(col) || lease.Expiry.Has(col) {
						return Evidence{Kind: Acquired, Pos: c.Pos(), What: "claiming " + w.Table.Name, Table: w.Table.Name, Handle: site.Handle}, true
					}
				}
			}
		}
	}
	return Evidence{}, false
}

func assigned(w sqlstmt.Write) []string {
	out := slices.Clone(w.Columns)
	for _, a := range w.Set {
		out = append(out, a.Column)
	}
	return out
}

// proveNil returns the evidence that follows from the error v being nil.
func (r *Reader) proveNil(v ssa.Value, depth int) []Evidence {
	if depth > maxProve {
		return nil
	}
	switch v := v.(type) {
	case *ssa.Call:
		return r.proveNilCall(v, 0)
	case *ssa.Extract:
		if c, ok := v.Tuple.(*ssa.Call); ok {
			return r.proveNilCall(c, v.Index)
		}
	case *ssa.Phi:
		var out []Evidence
		for _, e := range v.Edges {
			if isNil(e) {
				return nil
			}
			evs := r.proveNil(e, depth+1)
			if len(evs) == 0 && !nonNil(e) {
				return nil
			}
			out = append(out, evs...)
		}
		return out
	case *ssa.UnOp:
		// A named or captured error variable: what was stored last in this block.
		if v.Op == token.MUL {
			if st := lastStore(v); st != nil {
				return r.proveNil(st.Val, depth+1)
			}
		}
	}
	return nil
}

// lastStore returns the store into the same variable that reaches ld on the only
// way there, or nil.
func lastStore(ld *ssa.UnOp) *ssa.Store {
	b := ld.Block()
	i := slices.Index(b.Instrs, ssa.Instruction(ld))
	for range maxProve {
		for i--; i >= 0; i-- {
			if st, ok := b.Instrs[i].(*ssa.Store); ok && st.Addr == ld.X {
				return st
			}
		}
		if len(b.Preds) != 1 {
			return nil
		}
		b = b.Preds[0]
		i = len(b.Instrs)
	}
	return nil
}

// nonNil tells whether an error is certainly not nil: made here, or a variable
// that holds one.
func nonNil(v ssa.Value) bool {
	switch v := v.(type) {
	case *ssa.MakeInterface:
		return true
	case *ssa.UnOp:
		_, ok := v.X.(*ssa.Global)
		return ok
	case *ssa.Call:
		if obj := ir.Object(&v.Call); obj != nil {
			switch obj.FullName() {
			case "errors.New", "fmt.Errorf":
				return true
			}
		}
	}
	return false
}

func (r *Reader) proveNilCall(c *ssa.Call, result int) []Evidence {
	obj := ir.Object(&c.Call)
	if l, ok := lease.Find(obj); ok {
		if (l.Kind == lease.Acquire || l.Kind == lease.Check) && l.Proof == lease.NilError {
			return []Evidence{r.acquired(c)}
		}
		return nil
	}
	if s, ok := r.Sink.Spec(&c.Call); ok && s.Store == sink.SQL {
		if site := r.Sink.Site(c); site != nil {
			if ev, ok := r.advisory(c, site); ok && !slices.Contains(funcsOf(site), "pg_try_advisory_lock") && !slices.Contains(funcsOf(site), "get_lock") {
				return []Evidence{ev}
			}
		}
		return nil
	}
	if obj != nil && obj.Name() == "Scan" && len(c.Call.Args) > 0 {
		return r.scanned(c)
	}
	return r.fromFunc(c, result, lease.NilError)
}

func funcsOf(s *sink.Site) []string {
	var out []string
	for _, sc := range s.Scripts {
		for _, st := range sc.Stmts {
			out = append(out, st.Funcs...)
		}
	}
	return out
}

// scanned: Scan succeeds only if a row matched, so a SELECT by token found it,
// or a claim returned its row.
func (r *Reader) scanned(c *ssa.Call) []Evidence {
	recv := sink.Receiver(&c.Call)
	if recv == nil {
		return nil
	}
	var out []Evidence
	r.Sink.Trace.Walk(recv, func(v, addr ssa.Value) ([]ssa.Value, bool) {
		q, ok := v.(*ssa.Call)
		if !ok || addr != nil {
			return nil, addr != nil
		}
		s, ok := r.Sink.Spec(&q.Call)
		if !ok || s.Store != sink.SQL {
			return nil, false
		}
		if site := r.Sink.Site(q); site != nil {
			if ev, ok := r.claim(q); ok {
				out = append(out, ev)
			} else if ev, ok := r.selected(q, site); ok && !aggregate(site) {
				out = append(out, ev)
			}
		}
		return nil, true
	})
	return out
}

// aggregate: the query gives a row whether or not anything matched.
func aggregate(s *sink.Site) bool {
	for _, sc := range s.Scripts {
		for _, st := range sc.Stmts {
			if st.Query == nil {
				continue
			}
			for _, o := range st.Query.Output {
				if o.Kind == sqlstmt.Exists || o.Kind == sqlstmt.Func && (o.Name == "count" || o.Name == "max" || o.Name == "min" || o.Name == "sum") {
					return true
				}
			}
		}
	}
	return false
}

// proveCall returns the evidence in a bool result of a call.
func (r *Reader) proveCall(c *ssa.Call, result int, want bool, other *ssa.BasicBlock, depth int) []Evidence {
	obj := ir.Object(&c.Call)
	if l, ok := lease.Find(obj); ok {
		if want && l.Proof == lease.True && (l.Kind == lease.Acquire || l.Kind == lease.Check) {
			ev := r.acquired(c)
			if l.Kind == lease.Check {
				ev.Kind = Checked
			}
			return []Evidence{ev}
		}
		return nil
	}
	if obj == nil {
		if r.CheckValue != nil && want {
			if name, ok := r.CheckValue(&c.Call); ok {
				return []Evidence{{Kind: Checked, Pos: c.Pos(), What: name}}
			}
		}
		return nil
	}
	if ev, ok := r.setnx(c, obj); ok {
		if want && result == 0 {
			return []Evidence{ev}
		}
		return nil
	}
	if obj.FullName() == "(*sync/atomic.Bool).Load" && want {
		if fa, ok := c.Call.Args[0].(*ssa.FieldAddr); ok {
			if ev := r.flag(ir.FieldOf(fa.X.Type(), fa.Field)); ev != nil {
				e := *ev
				e.Pos = c.Pos()
				return []Evidence{e}
			}
		}
		return nil
	}
	if equal[obj.FullName()] && len(c.Call.Args) == 2 {
		if want {
			return r.compared(c.Pos(), c.Call.Args[0], c.Call.Args[1], true, other)
		}
		return nil
	}
	if ev, ok := r.unexpired(c, obj, want); ok {
		return []Evidence{ev}
	}
	if want {
		return r.fromFunc(c, result, lease.True)
	}
	return nil
}

var equal = map[string]bool{
	"bytes.Equal": true, "strings.EqualFold": true, "reflect.DeepEqual": true,
}

// fromFunc asks what a result of a function proves: of this package by looking
// at it, of another by its summary or fence.yaml.
func (r *Reader) fromFunc(c *ssa.Call, result int, mode lease.Proof) []Evidence {
	obj := ir.Object(&c.Call)
	if obj == nil {
		return nil
	}
	var ps []Proof
	if r.Proofs != nil {
		ps = r.Proofs(obj)
	}
	if callee := ir.Callee(&c.Call); len(ps) == 0 && callee != nil && callee.Pkg == r.Pkg.SSA {
		ps = r.FuncProofs(callee)
	}
	for _, p := range ps {
		if p.Result == result && p.Mode == mode {
			kind := Checked
			if p.Acquires {
				kind = Acquired
			}
			ev := Evidence{Kind: kind, Pos: c.Pos(), What: FuncName(obj), Held: p.Held, Handle: sink.Receiver(&c.Call)}
			r.keyOf(c, &ev)
			return []Evidence{ev}
		}
	}
	return nil
}

// keyOf notes a lock's key among a call's arguments.
func (r *Reader) keyOf(c *ssa.Call, ev *Evidence) {
	for _, a := range c.Call.Args {
		if b, ok := a.Type().Underlying().(*types.Basic); !ok || b.Kind() != types.String {
			continue
		}
		for _, t := range r.Sink.Text.Texts(a) {
			if lease.IsLockKey(t) {
				ev.Key, ev.KeyValue = t, a
				return
			}
		}
	}
}

// declared: the value is a result of a call that fence.yaml names as a check and
// that is neither a bool nor an error.
func (r *Reader) declared(v ssa.Value) []Evidence {
	ex, ok := v.(*ssa.Extract)
	if !ok || r.Proofs == nil {
		return nil
	}
	c, ok := ex.Tuple.(*ssa.Call)
	if !ok {
		return nil
	}
	obj := ir.Object(&c.Call)
	if obj == nil {
		return nil
	}
	for _, p := range r.Proofs(obj) {
		if p.Result == -1 {
			return []Evidence{{Kind: Checked, Pos: c.Pos(), What: FuncName(obj)}}
		}
	}
	return nil
}

// setnx: SET if absent is an acquire if this package also removes, renews or
// expires the key, or the key is a lock's by one of its words.
func (r *Reader) setnx(c *ssa.Call, obj *types.Func) (Evidence, bool) {
	if obj.Name() != "Val" && obj.Name() != "Result" {
		return Evidence{}, false
	}
	set, ok := sink.Receiver(&c.Call).(*ssa.Call)
	if !ok {
		return Evidence{}, false
	}
	spec, ok := r.Sink.Spec(&set.Call)
	if !ok || spec.Op != sink.Claim {
		return Evidence{}, false
	}
	ev := r.acquired(set)
	if ev.KeyValue == nil || !lease.IsLockKey(ev.Key) && !r.releases(ev) {
		return Evidence{}, false
	}
	return ev, true
}

// releases tells whether the package removes, renews or expires a key, or runs
// a script, which is how the careful do it.
func (r *Reader) releases(ev Evidence) bool {
	for _, fn := range r.Pkg.Funcs {
		for _, b := range fn.Blocks {
			for _, in := range b.Instrs {
				c, ok := in.(ssa.CallInstruction)
				if !ok {
					continue
				}
				s, ok := r.Sink.Spec(c.Common())
				if !ok || s.Store != sink.Redis {
					continue
				}
				switch s.Op {
				case sink.Script:
					return true
				case sink.Remove, sink.Renew:
					if k := sink.Arg(c.Common(), s.Key); k != nil && r.SameKey(k, ev) {
						return true
					}
				}
			}
		}
	}
	return false
}

// SameKey tells whether k is the key that ev was about: the same value, or the
// same text without unknown pieces.
func (r *Reader) SameKey(k ssa.Value, ev Evidence) bool {
	vals, _ := origin.Variadic(r.Pkg, k)
	if vals == nil {
		vals = []ssa.Value{k}
	}
	for _, v := range vals {
		if v == ev.KeyValue {
			return true
		}
		for _, t := range r.Sink.Text.Texts(v) {
			if t == ev.Key && strings.Trim(t, sqlstmt.Hole) != "" {
				return true
			}
		}
	}
	return false
}

// compared: x and y are compared; one is a stored owner or token.
func (r *Reader) compared(pos token.Pos, x, y ssa.Value, equal bool, other *ssa.BasicBlock) []Evidence {
	if evs := r.comparedWith(pos, x, y, equal); evs != nil {
		return evs
	}
	return r.comparedWith(pos, y, x, equal)
}

func (r *Reader) comparedWith(pos token.Pos, stored, mine ssa.Value, equal bool) []Evidence {
	if isConst(mine) {
		return nil
	}
	ds := r.Record.Of(stored)
	if len(ds) == 0 {
		return r.leaderField(pos, stored, mine, equal)
	}
	for _, d := range ds {
		if d.Request {
			return nil
		}
	}
	d := ds[0]
	mineStored := r.Record.Of(mine)
	for _, m := range mineStored {
		if m.Request || sameRecord(d, m) {
			return nil
		}
	}
	ev := Evidence{Pos: pos, What: d.String(), Table: d.Table, Column: d.Column, Key: d.Key, KeyValue: d.KeyValue,
		Handle: d.Handle, Held: d.Lock >= sqlstmt.ForShare}
	if r.Record.FromRequest(mine) {
		return nil
	}
	integer := isInteger(mine.Type())
	for _, name := range d.Own() {
		if integer && lease.IsTokenName(name) && !foreignValue(mine) {
			ev.Kind = TokenCompared
			return []Evidence{ev}
		}
	}
	if !equal {
		return nil
	}
	holder := slices.ContainsFunc(d.Own(), lease.IsHolderName)
	carrier := (lease.Ownership.Has(d.Carrier()...) || lease.IsLockKey(d.Key)) && !d.Foreign()
	ownerWord := lease.Owner.Has(d.Carrier()...)
	switch r.identity(mine) {
	case isSelf:
		if holder || (carrier && (d.Spec.Store != "" && d.Spec.Store != sink.SQL || idName(d))) {
			ev.Kind = OwnerCompared
			return []Evidence{ev}
		}
	case outOfSight:
		if carrier && (d.Key != "" || idName(d) || holder) || ownerWord && (d.Key != "" || idName(d)) {
			ev.Kind, ev.Weak = OwnerCompared, true
			return []Evidence{ev}
		}
	}
	return nil
}

// idName: the datum is an identity by its name.
func idName(d record.Datum) bool {
	for _, n := range d.Own() {
		for _, w := range lease.Words(n) {
			if w == "id" || w == "value" || w == "uuid" || w == "who" || w == "token" || w == "key" {
				return true
			}
		}
	}
	return false
}

func sameRecord(a, b record.Datum) bool {
	if a.Read != nil || b.Read != nil {
		return a.Read == b.Read
	}
	return a.Struct != nil && b.Struct != nil && a.Struct == b.Struct && a.Table == b.Table
}

func isInteger(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

// leaderField: a process that compares its own id with the leader it knows, both
// kept in its own fields: id == lead.
func (r *Reader) leaderField(pos token.Pos, x, y ssa.Value, equal bool) []Evidence {
	if !equal {
		return nil
	}
	a, b := fieldRead(x), fieldRead(y)
	if a == nil || b == nil || a == b {
		return nil
	}
	if leaderWords.Has(a.Name()) && selfWords.Has(b.Name()) && !leaderWords.Has(b.Name()) {
		return []Evidence{{Kind: OwnerCompared, Pos: pos, What: a.Name()}}
	}
	return nil
}

var (
	leaderWords = lease.Set{"leader": true, "lead": true, "primary": true, "master": true, "holder": true, "elected": true, "coordinator": true}
	selfWords   = lease.Set{"id": true, "self": true, "me": true, "my": true, "local": true, "node": true, "own": true, "name": true, "identity": true, "addr": true}
)

// fieldRead returns the field that v reads, plainly, through an atomic or an
// accessor of one.
func fieldRead(v ssa.Value) *types.Var {
	for range 6 {
		switch x := v.(type) {
		case *ssa.UnOp:
			v = x.X
		case *ssa.FieldAddr:
			return ir.FieldOf(x.X.Type(), x.Field)
		case *ssa.Field:
			return ir.FieldOf(x.X.Type(), x.Field)
		case *ssa.Call:
			obj := ir.Object(&x.Call)
			if obj == nil || obj.Name() != "Load" || x.Call.IsInvoke() || len(x.Call.Args) != 1 {
				return nil
			}
			v = x.Call.Args[0]
		case *ssa.Convert:
			v = x.X
		default:
			return nil
		}
	}
	return nil
}

type sight int

const (
	notSelf sight = iota
	isSelf
	outOfSight
)

// made are functions whose results identify this process or this claim.
var made = map[string]bool{
	"os.Hostname": true, "os.Getpid": true, "github.com/google/uuid.NewString": true, "github.com/google/uuid.New": true,
	"github.com/rs/xid.New": true, "github.com/google/uuid.Must": true, "(github.com/google/uuid.UUID).String": true,
	"github.com/oklog/ulid/v2.Make": true, "os.Getenv": true, "github.com/segmentio/ksuid.New": true,
}

// identity tells whether v is an identity this process made or was configured
// with: a hostname, a pid, a uuid, a field of the object whose method this is, a
// package variable. A parameter nobody in the package fills is out of sight.
func (r *Reader) identity(v ssa.Value) sight {
	s := notSelf
	bad := false
	r.Sink.Trace.Walk(v, func(v, out ssa.Value) ([]ssa.Value, bool) {
		if out != nil {
			bad = true
			return nil, true
		}
		switch v := v.(type) {
		case *ssa.Call:
			if obj := ir.Object(&v.Call); obj != nil && made[obj.FullName()] {
				s = isSelf
				return nil, true
			}
			if obj := ir.Object(&v.Call); obj != nil && v.Call.IsInvoke() && (obj.Name() == "Identity" || obj.Name() == "HostID" || obj.Name() == "NodeID") {
				s = isSelf
				return nil, true
			}
		case *ssa.Global:
			s = isSelf
			return nil, true
		case *ssa.FieldAddr:
			if r.ownField(v.X, v.Field) {
				s = isSelf
				return nil, true
			}
			if record.IsStoredField(v.X.Type(), v.Field, ir.FieldOf(v.X.Type(), v.Field), ir.NamedOf(v.X.Type())) {
				bad = true
				return nil, true
			}
		case *ssa.Parameter:
			if len(r.Pkg.Callers(v.Parent())) == 0 && s == notSelf {
				s = outOfSight
			}
		}
		return nil, false
	})
	if bad && s != isSelf {
		return notSelf
	}
	return s
}

// ownField tells whether a field belongs to the receiver of the method it is
// read in and is not itself something stored or a user.
func (r *Reader) ownField(base ssa.Value, i int) bool {
	f, n := ir.FieldOf(base.Type(), i), ir.NamedOf(base.Type())
	if f == nil || n == nil || record.IsStoredField(base.Type(), i, f, n) || record.IsRequestType(base.Type()) {
		return false
	}
	if lease.Foreign.Has(n.Obj().Name()) || lease.Foreign.Has(f.Name()) {
		return false
	}
	return true
}

// foreignValue: the value is a user's, an account's or a session's.
func foreignValue(v ssa.Value) bool {
	if f := fieldRead(v); f != nil && lease.Foreign.Has(f.Name()) {
		return true
	}
	for range 4 {
		switch x := v.(type) {
		case *ssa.UnOp:
			v = x.X
		case *ssa.FieldAddr:
			if n := ir.NamedOf(x.X.Type()); n != nil && lease.Foreign.Has(n.Obj().Name()) {
				return true
			}
			return false
		case *ssa.Parameter:
			return lease.Foreign.Has(x.Name())
		case *ssa.MakeInterface:
			v = x.X
		default:
			return false
		}
	}
	return false
}

// unexpired: a stored expiry lies after this process's clock, so the lease is
// taken for valid; or before it, so the lock is taken for free.
func (r *Reader) unexpired(c *ssa.Call, obj *types.Func, want bool) (Evidence, bool) {
	if obj.Pkg() == nil || obj.Pkg().Path() != "time" || len(c.Call.Args) != 2 {
		return Evidence{}, false
	}
	if obj.Name() != "After" && obj.Name() != "Before" {
		return Evidence{}, false
	}
	after := obj.Name() == "After"
	if ev, ok := r.expiryAgainst(c.Pos(), c.Call.Args[0], c.Call.Args[1], after == want); ok { // expiry.After(now)
		return ev, true
	}
	return r.expiryAgainst(c.Pos(), c.Call.Args[1], c.Call.Args[0], after != want) // now.Before(expiry)
}

// expiryAgainst: stored is an expiry of a lock and now is this process's clock;
// valid says whether the branch taken holds it for still running.
func (r *Reader) expiryAgainst(pos token.Pos, stored, now ssa.Value, valid bool) (Evidence, bool) {
	if isConst(stored) || isConst(now) || !r.Clock.Of(now).Now {
		return Evidence{}, false
	}
	for _, d := range r.Record.Of(stored) {
		if d.Request || d.Foreign() || !lease.Expiry.Has(d.Own()...) || !lease.Ownership.Has(d.Names()...) {
			continue
		}
		ev := Evidence{Kind: Unexpired, Pos: pos, What: d.String(), Table: d.Table, Column: d.Column}
		if !valid {
			ev.Kind = Absent
			return ev, d.Table != ""
		}
		return ev, d.Struct != nil && HasHolder(d.Struct)
	}
	return Evidence{}, false
}

// HasHolder tells whether a struct has a field that names the process that owns
// the row.
func HasHolder(n *types.Named) bool {
	s, ok := n.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	host, pid := false, false
	for i := range s.NumFields() {
		f := s.Field(i)
		if lease.IsHolderName(f.Name()) && !isUserID(f) {
			return true
		}
		switch strings.ToLower(f.Name()) {
		case "host", "hostname":
			host = true
		case "pid":
			pid = true
		}
	}
	return host && pid
}

// isUserID: "OwnerID int64" is a row of a users table, not a process.
func isUserID(f *types.Var) bool {
	return isInteger(f.Type()) && strings.HasSuffix(f.Name(), "ID")
}

// absent: a lookup of a lock record found nothing. The key, or an attribute of
// the key, says that it is a lock's.
func (r *Reader) absent(v ssa.Value) []Evidence {
	var c *ssa.Call
	for _, d := range r.Record.Of(v) {
		if d.Read != nil && d.Spec.Store != "" {
			c = d.Read
		}
	}
	if c == nil {
		switch x := v.(type) {
		case *ssa.Extract:
			c, _ = x.Tuple.(*ssa.Call)
		case *ssa.Call:
			c = x
		}
	}
	if c == nil || ir.Object(&c.Call) == nil {
		return nil
	}
	ev := Evidence{Kind: Absent, Pos: c.Pos(), What: callName(&c.Call)}
	s := r.Sink.Site(c)
	if s != nil && s.Spec.Store == sink.SQL {
		for _, d := range r.Record.Of(v) {
			if lease.IsLockKey(d.Table) {
				ev.Table = d.Table
				return []Evidence{ev}
			}
		}
		return nil
	}
	if s != nil && s.Spec.Key >= 0 {
		if ev = r.acquired(c); lease.IsLockKey(ev.Key) {
			ev.Kind = Absent
			return []Evidence{ev}
		}
		return nil
	}
	if s != nil && s.Spec.Input >= 0 {
		for _, t := range append(append([]string(nil), s.Names...), s.Texts...) {
			if lease.IsLockKey(t) {
				ev.Key = t
				if len(s.Texts) > 0 {
					ev.Key = s.Texts[0]
				}
				ev.Request = true
				return []Evidence{ev}
			}
		}
		return nil
	}
	for _, a := range c.Call.Args {
		if b, ok := a.Type().Underlying().(*types.Basic); !ok || b.Kind() != types.String {
			continue
		}
		for _, t := range r.Sink.Text.Texts(a) {
			if lease.IsLockKey(t) {
				ev.Key, ev.KeyValue = t, a
				return []Evidence{ev}
			}
		}
	}
	return nil
}
