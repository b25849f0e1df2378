// Package authority answers one question: which instructions run only because
// this process believes it is the owner?
//
// Evidence is local, never a name alone: the success of an acquire call, the
// result of a leadership check of a library or of a function that makes one, a
// stored owner compared with this process's identity, a token compared with the
// stored one, an unexpired stored lease. From evidence come regions: what the
// branch taken on it dominates, the closures made there, the callbacks run there
// and the unexported functions called from nowhere else.
package authority

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/clock"
	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/lease"
	"github.com/fencelint/fence/analyzers/internal/record"
	"github.com/fencelint/fence/analyzers/internal/sink"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// Kind is what sort of evidence it is.
type Kind int

// The kinds of evidence.
const (
	Acquired      Kind = iota // a lock or lease was taken
	Checked                   // a leadership check said yes
	OwnerCompared             // a stored owner is this process
	TokenCompared             // a stored token is the caller's
	Unexpired                 // a stored lease has not run out
	Absent                    // no lock record was found
	Callback                  // a library runs this code as leader
)

// Evidence is one reason to believe that this process is the owner.
type Evidence struct {
	Kind Kind
	Pos  token.Pos
	What string // for a person: "mu.Lock", "remote_task.lease_generation"
	// The record it was read from, as far as known.
	Table, Column, Key string
	KeyValue           ssa.Value
	Handle             ssa.Value // the database, connection or transaction used
	// Held: the check holds until the commit (a row lock, a transaction-scoped
	// lock, a serializable transaction), so that writes through Handle are safe.
	Held bool
	// Session: the lock lives exactly as long as the connection Handle.
	Session bool
	// Request: the record was looked up by a request struct; Key is its table or
	// key as text, which may be unknown.
	Request bool
	// Weak: whose identity is compared is out of sight; good only for removing
	// the very record.
	Weak bool
}

// Region is code that runs only under its evidence.
type Region struct {
	Fn    *ssa.Function
	Ev    Evidence
	from  *ssa.BasicBlock // nil: all of Fn
	after int             // index in from after which it starts; -1: all of from
	ends  []*ssa.Call     // after which the lock is given back
	Whole bool
	Via   []token.Pos // how Fn was entered: calls, closures, callbacks, outermost first
}

// Contains tells whether in lies in the region.
func (r Region) Contains(in ssa.Instruction) bool {
	if !r.covers(in) {
		return false
	}
	for _, end := range r.ends {
		if r.covers(end) && before(end, in) {
			return false
		}
	}
	return true
}

func (r Region) covers(in ssa.Instruction) bool {
	if in.Parent() != r.Fn {
		return false
	}
	if r.from == nil {
		return true
	}
	b := in.Block()
	if b == r.from {
		return r.after < 0 || slices.Index(b.Instrs, in) > r.after
	}
	return r.from.Dominates(b)
}

// before tells whether a has run whenever b runs.
func before(a, b ssa.Instruction) bool {
	if a.Block() == b.Block() {
		return slices.Index(a.Block().Instrs, a) < slices.Index(b.Block().Instrs, b)
	}
	return a.Block().Dominates(b.Block())
}

// Proof says that a result of a function proves ownership.
type Proof struct {
	Result int
	Mode   lease.Proof
	// Acquires: the function takes the lock rather than look at it.
	Acquires bool
	What     string
	Held     bool
	Table    string // of mode Free: the lock's table
	Key      string // and its key
}

// Reader finds evidence in one package.
type Reader struct {
	Pkg    *ir.Package
	Sink   *sink.Reader
	Record *record.Reader
	Clock  *clock.Reader
	// Proofs gives what results of functions of other packages, interface methods
	// and functions named in fence.yaml prove.
	Proofs func(*types.Func) []Proof
	// Lost tells whether a function is declared to return a channel that ends with
	// ownership.
	Lost func(*types.Func) bool
	// Token tells whether a field is declared to hold a token.
	Token func(*types.Named, *types.Var) bool
	// CheckValue tells whether a call of a function value is a declared check, and
	// its name.
	CheckValue func(*ssa.CallCommon) (string, bool)
	// OwnerArgs gives the function-typed parameters that a function of another
	// package runs as owner; the receiver is not counted.
	OwnerArgs func(*types.Func) []int

	local   map[*ssa.Function][]Region
	all     map[*ssa.Function][]Region
	busy    map[*ssa.Function]bool
	proofs  map[*ssa.Function][]Proof
	proving map[*ssa.Function]bool
	owner   map[*ssa.Function][]int
	flags   map[*types.Var]*Evidence
	columns map[*types.Var]map[string]bool // see storedColumns
	equals  map[*types.Var]map[*types.Var]bool
}

// New returns a reader over the given engine parts.
func New(p *ir.Package, s *sink.Reader, rec *record.Reader, c *clock.Reader) *Reader {
	return &Reader{
		Pkg: p, Sink: s, Record: rec, Clock: c,
		local: map[*ssa.Function][]Region{}, all: map[*ssa.Function][]Region{}, busy: map[*ssa.Function]bool{},
		proofs: map[*ssa.Function][]Proof{}, proving: map[*ssa.Function]bool{}, owner: map[*ssa.Function][]int{},
		flags: map[*types.Var]*Evidence{},
	}
}

// Local returns the regions that fn's own branches make.
func (r *Reader) Local(fn *ssa.Function) []Region {
	if out, ok := r.local[fn]; ok {
		return out
	}
	r.local[fn] = nil // a function that proves itself by itself proves nothing
	var out []Region
	for _, b := range fn.Blocks {
		if ev, ok := r.either(b); ok {
			out = append(out, Region{Fn: fn, Ev: ev, from: b, after: -1})
		}
		for i, in := range b.Instrs {
			switch in := in.(type) {
			case *ssa.If:
				for s, want := range []bool{true, false} {
					succ := b.Succs[s]
					if len(succ.Preds) != 1 || b.Succs[0] == b.Succs[1] {
						continue
					}
					for _, ev := range r.prove(in.Cond, want, b.Succs[1-s], 0) {
						if ev.Kind == Absent && ev.Key == "" && ev.Table == "" {
							continue // what is free is not known, so no write can be about the same
						}
						out = append(out, Region{Fn: fn, Ev: ev, from: succ, after: -1})
					}
				}
			case *ssa.Call:
				if c, ok := lease.Find(ir.Object(&in.Call)); ok && c.Kind == lease.Acquire && c.Proof == lease.NoResult {
					out = append(out, Region{Fn: fn, Ev: r.acquired(in), from: b, after: i})
				}
				if r.isLocker(&in.Call) {
					out = append(out, Region{Fn: fn, Ev: r.acquired(in), from: b, after: i})
				}
			case *ssa.UnOp:
				if c, ok := in.X.(*ssa.Call); ok && in.Op == token.ARROW {
					if l, ok := lease.Find(ir.Object(&c.Call)); ok && l.Kind == lease.Elected {
						ev := Evidence{Kind: Checked, Pos: in.Pos(), What: callName(&c.Call)}
						out = append(out, Region{Fn: fn, Ev: ev, from: b, after: i})
					}
				}
			}
		}
	}
	for i := range out {
		if out[i].Ev.Kind == Acquired {
			out[i].ends = r.released(fn)
		}
	}
	r.local[fn] = out
	return out
}

// either tells whether each of the branches that lead to b proves something about
// the same lock: it is free, or it is ours (holder != "" && holder != me was false).
func (r *Reader) either(b *ssa.BasicBlock) (Evidence, bool) {
	if len(b.Preds) < 2 {
		return Evidence{}, false
	}
	var best Evidence
	for i, p := range b.Preds {
		in, ok := p.Instrs[len(p.Instrs)-1].(*ssa.If)
		if !ok || p.Succs[0] == p.Succs[1] {
			return Evidence{}, false
		}
		want := p.Succs[0] == b
		other := p.Succs[0]
		if want {
			other = p.Succs[1]
		}
		evs := r.prove(in.Cond, want, other, 0)
		if len(evs) == 0 {
			return Evidence{}, false
		}
		if i == 0 || evs[0].Kind == Absent && best.Key == "" && best.Table == "" {
			best = evs[0]
		}
	}
	return best, true
}

// released returns the calls in fn that give a lock back, by themselves or in a
// function of the package that takes none; those of defer run last and end
// nothing.
func (r *Reader) released(fn *ssa.Function) []*ssa.Call {
	var out []*ssa.Call
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			c, ok := in.(*ssa.Call)
			if !ok {
				continue
			}
			if l, ok := lease.Find(ir.Object(&c.Call)); ok && l.Kind == lease.Release {
				out = append(out, c)
			} else if callee := ir.Callee(&c.Call); callee != nil && callee.Pkg == r.Pkg.SSA && callee != fn && givesBack(callee) {
				out = append(out, c)
			}
		}
	}
	return out
}

// givesBack tells whether fn calls a library's release of a lock and no acquire.
func givesBack(fn *ssa.Function) bool {
	found := false
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			c, ok := in.(ssa.CallInstruction)
			if !ok {
				continue
			}
			switch l, ok := lease.Find(ir.Object(c.Common())); {
			case !ok:
			case l.Kind == lease.Acquire:
				return false
			case l.Kind == lease.Release:
				found = true
			}
		}
	}
	return found
}

// isLocker tells whether a call is Lock of a sync.Locker that a lease library
// made.
func (r *Reader) isLocker(c *ssa.CallCommon) bool {
	if !c.IsInvoke() || c.Method.Name() != "Lock" || !ir.IsNamed(c.Value.Type(), "sync", "Locker") {
		return false
	}
	found := false
	r.Sink.Trace.Walk(c.Value, func(v, out ssa.Value) ([]ssa.Value, bool) {
		if call, ok := v.(*ssa.Call); ok && out == nil {
			l, ok := lease.Find(ir.Object(&call.Call))
			found = found || ok && l.Kind == lease.Locker
		}
		return nil, found
	})
	return found
}

// Regions returns all regions of fn: its own, and those it inherits by being a
// closure made in one, a callback run as owner, or a function called from
// nowhere but such regions.
func (r *Reader) Regions(fn *ssa.Function) []Region {
	if out, ok := r.all[fn]; ok {
		return out
	}
	if r.busy[fn] {
		return nil
	}
	r.busy[fn] = true
	defer delete(r.busy, fn)
	out := append([]Region(nil), r.Local(fn)...)
	out = append(out, r.inherited(fn)...)
	r.all[fn] = out
	return out
}

func (r *Reader) inherited(fn *ssa.Function) []Region {
	var out []Region
	whole := func(ev Evidence, via []token.Pos, at token.Pos) {
		out = append(out, Region{Fn: fn, Ev: ev, Whole: true, Via: append(append([]token.Pos(nil), via...), at)})
	}
	values := r.Pkg.Values(fn)
	for _, in := range values {
		if mc, ok := in.(*ssa.MakeClosure); ok {
			for _, use := range *mc.Referrers() {
				if ev, ok := r.runAsOwner(mc, use); ok {
					whole(ev, nil, use.Pos())
				}
			}
			if fn.Parent() == nil {
				continue // a bound method value
			}
			for _, reg := range r.Regions(mc.Parent()) {
				if reg.Contains(mc) {
					whole(reg.Ev, reg.Via, mc.Pos())
				}
			}
			continue
		}
		if ev, ok := r.runAsOwner(fn, in); ok {
			whole(ev, nil, in.Pos())
		}
	}
	for _, b := range r.boundUses(fn) {
		if ev, ok := r.runAsOwner(b.mc, b.use); ok {
			whole(ev, nil, b.use.Pos())
		}
	}
	if fn.Parent() != nil && len(fn.FreeVars) == 0 {
		for _, in := range values {
			if _, ok := in.(*ssa.MakeClosure); ok {
				continue
			}
			for _, reg := range r.Regions(in.Parent()) {
				if reg.Contains(in) {
					whole(reg.Ev, reg.Via, fn.Pos())
				}
			}
		}
	}
	if len(out) > 0 {
		return out
	}
	return append(out, r.calledAsOwner(fn)...)
}

// calledAsOwner: every call of an unexported function, none of them out of
// sight, lies in a region.
func (r *Reader) calledAsOwner(fn *ssa.Function) []Region {
	calls := r.Pkg.Callers(fn)
	if len(calls) == 0 || !r.private(fn) {
		return nil
	}
	var first *Region
	for _, c := range calls {
		found := false
		for _, reg := range r.Regions(c.Parent()) {
			if !reg.Contains(c) || reg.Ev.Weak || reg.Ev.Kind == Absent {
				continue
			}
			found = true
			if first == nil {
				first = &Region{Fn: fn, Ev: reg.Ev, Whole: true, Via: append(append([]token.Pos(nil), reg.Via...), c.Pos())}
			}
			break
		}
		if !found {
			return nil
		}
	}
	return []Region{*first}
}

// private tells whether all uses of fn are calls inside the package.
func (r *Reader) private(fn *ssa.Function) bool {
	if fn.Parent() != nil {
		return len(r.Pkg.Values(fn)) == 0
	}
	obj := fn.Object()
	if obj == nil || obj.Exported() || len(r.Pkg.Values(fn)) > 0 || len(r.boundUses(fn)) > 0 {
		return false
	}
	if fn.Signature.Recv() != nil && len(r.Pkg.Invokes(fn.Name())) > 0 {
		return false // may be called through an interface
	}
	return true
}

// PrivateToOwners tells whether fn's writes are reported inside it, because
// everything in it runs as owner.
func (r *Reader) PrivateToOwners(fn *ssa.Function) bool {
	for _, reg := range r.Regions(fn) {
		if reg.Whole {
			return true
		}
	}
	return false
}

type boundUse struct {
	mc  *ssa.MakeClosure
	use ssa.Instruction
}

// boundUses returns where method fn is used as a method value (x.run).
func (r *Reader) boundUses(fn *ssa.Function) []boundUse {
	obj, _ := fn.Object().(*types.Func)
	if obj == nil || fn.Signature.Recv() == nil {
		return nil
	}
	var out []boundUse
	for _, mc := range r.Pkg.Bound(obj) {
		for _, use := range *mc.Referrers() {
			out = append(out, boundUse{mc, use})
		}
	}
	return out
}

// runAsOwner tells whether use hands the function value v to something that
// runs it as owner.
func (r *Reader) runAsOwner(v ssa.Value, use ssa.Instruction) (Evidence, bool) {
	switch use := use.(type) {
	case *ssa.Store:
		fa, ok := use.Addr.(*ssa.FieldAddr)
		if !ok || use.Val != v {
			return Evidence{}, false
		}
		f := ir.FieldOf(fa.X.Type(), fa.Field)
		n := ir.NamedOf(fa.X.Type())
		if f != nil && lease.IsCallbackField(n, f.Name()) {
			return Evidence{Kind: Callback, Pos: use.Pos(), What: n.Obj().Name() + "." + f.Name()}, true
		}
	case *ssa.ChangeType:
		for _, u := range *use.Referrers() {
			if ev, ok := r.runAsOwner(use, u); ok {
				return ev, true
			}
		}
	case *ssa.MakeInterface: // handed over as any
		for _, u := range *use.Referrers() {
			if ev, ok := r.runAsOwner(use, u); ok {
				return ev, true
			}
		}
	case ssa.CallInstruction:
		c := use.Common()
		shift := 0
		if !c.IsInvoke() && c.Signature().Recv() != nil {
			shift = 1
		}
		for _, i := range r.ownerArgs(c) {
			if i+shift < len(c.Args) && c.Args[i+shift] == v {
				return Evidence{Kind: Callback, Pos: use.Pos(), What: callName(c)}, true
			}
		}
	}
	return Evidence{}, false
}

// ownerArgs returns the parameters that the callee runs as owner.
func (r *Reader) ownerArgs(c *ssa.CallCommon) []int {
	obj := ir.Object(c)
	if l, ok := lease.Find(obj); ok && l.Kind == lease.Callback {
		if len(l.With) > 0 && !slices.ContainsFunc(l.With, r.Pkg.Calls) {
			return nil
		}
		return []int{l.Arg}
	}
	if obj != nil && r.OwnerArgs != nil {
		if out := r.OwnerArgs(obj); out != nil {
			return out
		}
	}
	if callee := ir.Callee(c); callee != nil && callee.Pkg == r.Pkg.SSA {
		return r.FuncOwnerArgs(callee)
	}
	return nil
}

// FuncOwnerArgs returns the function-typed parameters that fn, of this package,
// calls only as owner.
func (r *Reader) FuncOwnerArgs(fn *ssa.Function) []int {
	if out, ok := r.owner[fn]; ok {
		return out
	}
	r.owner[fn] = nil
	shift := 0
	if fn.Signature.Recv() != nil {
		shift = 1
	}
	var out []int
	for i, p := range fn.Params {
		if i < shift {
			continue
		}
		if _, ok := p.Type().Underlying().(*types.Signature); ok && r.calledOnlyAsOwner(fn, p) {
			out = append(out, i-shift)
		}
	}
	r.owner[fn] = out
	return out
}

func (r *Reader) calledOnlyAsOwner(fn *ssa.Function, p *ssa.Parameter) bool {
	called := false
	for _, in := range *p.Referrers() {
		c, ok := in.(ssa.CallInstruction)
		if !ok || c.Common().Value != p {
			continue
		}
		inside := false
		for _, reg := range r.Local(fn) {
			if reg.Contains(c) && !reg.Ev.Weak && reg.Ev.Kind != Absent && !reg.Ev.Held && !(reg.Ev.Session && handsConn(c.Common())) {
				inside = true
			}
		}
		if !inside {
			return false
		}
		called = true
	}
	return called
}

// handsConn tells whether a call hands on a connection, with which a session's lock
// lives and dies.
func handsConn(c *ssa.CallCommon) bool {
	return slices.ContainsFunc(c.Args, func(a ssa.Value) bool {
		n := ir.NamedOf(a.Type())
		return n != nil && (n.Obj().Name() == "Conn" || n.Obj().Name() == "Tx")
	})
}

// Taken describes a call that takes a lock: what it is called on and the key.
func (r *Reader) Taken(c *ssa.Call) Evidence { return r.acquired(c) }

func (r *Reader) acquired(c *ssa.Call) Evidence {
	ev := Evidence{Kind: Acquired, Pos: c.Pos(), What: callName(&c.Call), Handle: sink.Receiver(&c.Call)}
	if s, ok := r.Sink.Spec(&c.Call); ok && s.Key >= 0 {
		if k := sink.Arg(&c.Call, s.Key); k != nil {
			ev.KeyValue = k
			if t := r.Sink.Keys(k); len(t) > 0 {
				ev.Key = t[0]
			}
		}
	}
	return ev
}

// callName names a call for a message: Type.Method, pkg.Func.
func callName(c *ssa.CallCommon) string {
	obj := ir.Object(c)
	if obj == nil {
		return c.Value.Name()
	}
	return FuncName(obj)
}

// FuncName names a function for a message: Type.Method or pkg.Func.
func FuncName(obj *types.Func) string {
	if recv := obj.Type().(*types.Signature).Recv(); recv != nil {
		if n := ir.NamedOf(recv.Type()); n != nil {
			return n.Obj().Name() + "." + obj.Name()
		}
		return obj.Name()
	}
	return obj.Name()
}

// LockOf returns the strongest row lock the statements of an SQL site take.
func LockOf(scripts []sqlstmt.Script) sqlstmt.Lock {
	var l sqlstmt.Lock
	for _, sc := range scripts {
		for _, st := range sc.Stmts {
			if st.Query != nil {
				l = max(l, st.Query.Lock)
			}
			for _, q := range st.CTEs {
				l = max(l, q.Lock)
			}
		}
	}
	return l
}
