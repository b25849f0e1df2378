package summary

import (
	"cmp"
	"fmt"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/authority"
	"github.com/fencelint/fence/analyzers/internal/clock"
	"github.com/fencelint/fence/analyzers/internal/expiry"
	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/lease"
	"github.com/fencelint/fence/analyzers/internal/origin"
	"github.com/fencelint/fence/analyzers/internal/record"
	"github.com/fencelint/fence/analyzers/internal/resource"
	"github.com/fencelint/fence/analyzers/internal/sink"
	"github.com/fencelint/fence/analyzers/internal/sqltext"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// MaxWrites bounds the writes kept of one function.
const MaxWrites = 16

// Code is one package with everything that reads it, under one policy. It is
// not safe for concurrent use.
type Code struct {
	Pkg       *ir.Package
	Policy    *resource.Policy
	Text      *sqltext.Reader
	Trace     *origin.Tracer
	Sink      *sink.Reader
	Record    *record.Reader
	Clock     *clock.Reader
	Authority *authority.Reader
	Expiry    *expiry.Reader

	lookup   Lookup
	writes   reach[[]Write]
	reads    map[*ssa.Function]bool
	effects  reach[bool]
	held     map[*ssa.Function]bool
	defers   map[*ssa.Function]bool
	compared reach[bool]
}

// New reads p under policy (nil: none); hits counts bounds that were hit.
func New(p *ir.Package, lookup Lookup, policy *resource.Policy, hits *origin.Hits) *Code {
	c := &Code{Pkg: p, Policy: policy, lookup: lookup,
		reads: map[*ssa.Function]bool{}, held: map[*ssa.Function]bool{}, defers: map[*ssa.Function]bool{}}
	c.Trace = &origin.Tracer{Pkg: p, Hits: hits}
	c.Text = sqltext.New(p)
	c.Text.Embedded = sqltext.Embeds(p)
	c.Sink = &sink.Reader{Pkg: p, Text: c.Text, Trace: c.Trace, Dialect: dialect(p, policy)}
	c.Sink.Wrapper = func(f *types.Func) (sink.Spec, bool) {
		if s := lookup.Func(f); s != nil && s.Text != nil {
			return *s.Text, true
		}
		return sink.Spec{}, false
	}
	c.Sink.Declared, c.Sink.Fenced = policy.Write, policy.Fenced
	c.Sink.Token = policy.Token
	c.Text.Built = c.Sink.BuiltText
	c.Text.Returns = func(f *types.Func) []string {
		if s := lookup.Func(f); s != nil {
			return s.Returns
		}
		return nil
	}
	c.Text.Members = func(f *types.Func, field string) []string {
		var out []string
		if s := lookup.Func(f); s != nil {
			for _, m := range s.Members {
				if m.Field == field {
					out = append(out, m.Text)
				}
			}
		}
		return out
	}
	c.Clock = &clock.Reader{Trace: c.Trace, Clock: c.clockOf}
	c.Record = &record.Reader{Pkg: p, Trace: c.Trace, Sink: c.Sink}
	c.Record.Stored = func(v *types.Var) (string, string, bool) {
		if s := lookup.Stored(v); s != nil {
			return s.Table, s.Column, true
		}
		return "", "", false
	}
	c.Record.Reads = func(f *types.Func) bool {
		s := lookup.Func(f)
		return s != nil && s.Reads
	}
	c.Record.Now = func(v ssa.Value) bool {
		t := c.Clock.Of(v)
		return t.Now && !t.Stripped
	}
	c.Authority = authority.New(p, c.Sink, c.Record, c.Clock)
	c.Authority.Proofs = c.proofs
	c.Authority.CheckValue = policy.CheckValue
	c.Authority.Lost, c.Authority.Token = policy.Lost, policy.TokenField
	c.Authority.OwnerArgs = func(f *types.Func) []int {
		if policy.Callback(f) {
			return funcParams(f)
		}
		if s := lookup.Func(f); s != nil {
			return s.OwnerArgs
		}
		return nil
	}
	c.Expiry = &expiry.Reader{Pkg: p, Policy: policy, Sink: c.Sink, Text: c.Text, Authority: c.Authority,
		Embedded: byDriver(p) == sqlstmt.SQLite}
	return c
}

func funcParams(f *types.Func) []int {
	var out []int
	ps := f.Type().(*types.Signature).Params()
	for i := range ps.Len() {
		if _, ok := ps.At(i).Type().Underlying().(*types.Signature); ok {
			out = append(out, i)
		}
	}
	return out
}

// drivers tell the dialect by what a package imports.
var drivers = map[string]sqlstmt.Dialect{
	"github.com/jackc/pgx/v5": sqlstmt.Postgres, "github.com/jackc/pgx/v5/pgxpool": sqlstmt.Postgres,
	"github.com/jackc/pgx/v5/stdlib": sqlstmt.Postgres, "github.com/lib/pq": sqlstmt.Postgres,
	"modernc.org/sqlite": sqlstmt.SQLite, "github.com/mattn/go-sqlite3": sqlstmt.SQLite,
	"github.com/go-sql-driver/mysql": sqlstmt.MySQL,
}

func dialect(p *ir.Package, policy *resource.Policy) sqlstmt.Dialect {
	if policy != nil && policy.Config.Dialect != sqlstmt.Unknown {
		return policy.Config.Dialect
	}
	return byDriver(p)
}

// byDriver is the dialect of the one driver that a package imports.
func byDriver(p *ir.Package) sqlstmt.Dialect {
	found := sqlstmt.Unknown
	for _, imp := range p.Types.Imports() {
		if d, ok := drivers[imp.Path()]; ok {
			if found != sqlstmt.Unknown && found != d {
				return sqlstmt.Unknown
			}
			found = d
		}
	}
	return found
}

func (c *Code) clockOf(f *types.Func) (wall, ok bool) {
	if c.Policy.Clock(f) {
		return false, true
	}
	if s := c.lookup.Func(f); s != nil && s.Clock != NoClock {
		return s.Clock == Wall, true
	}
	return false, false
}

// proofs: what fence.yaml or a summary says a function's results prove. Result
// -1 stands for any result that is neither bool nor error.
func (c *Code) proofs(f *types.Func) []authority.Proof {
	if c.Policy.Check(f) || c.Policy.Acquire(f) || c.Policy.Renew(f) {
		return proofsOf(f, c.Policy.Acquire(f))
	}
	if s := c.lookup.Func(f); s != nil {
		return s.Proofs
	}
	return nil
}

// Func sums up one function of the package.
func (c *Code) Func(fn *ssa.Function) *Func {
	f := &Func{Writes: c.Writes(fn), OwnerArgs: c.Authority.FuncOwnerArgs(fn), Reads: c.Reads(fn)}
	if s, ok := c.Sink.WrapperOf(fn); ok && !c.Sink.Renders(fn) {
		f.Text = &s
	}
	f.Proofs = c.Proofs(fn)
	f.Locks = c.TxHeld(fn) && !ends(fn)
	f.Binds = c.binds(fn)
	f.Compares = c.compares(fn)
	f.Members = c.members(fn)
	if c.Pkg.Generated(fn.Pos()) || c.Defers(fn) {
		f.Sent = c.Sent(fn)
	}
	return f
}

// Proofs returns what fn's results prove. A function that does other work too
// proves nothing to its callers: its nil error says that the work was done.
func (c *Code) Proofs(fn *ssa.Function) []authority.Proof {
	ps := c.Authority.FuncProofs(fn)
	if len(ps) == 0 {
		return nil
	}
	for _, w := range c.Writes(fn) {
		if !lease.Ownership.Has(w.Target) {
			return nil
		}
	}
	if c.acts(fn) {
		return nil
	}
	return ps
}

// acts tells whether fn, or a function of the package that it calls, has an
// effect outside every store.
func (c *Code) acts(fn *ssa.Function) bool {
	return c.effects.of(fn, func() bool {
		for _, b := range fn.Blocks {
			for _, in := range b.Instrs {
				call, ok := in.(ssa.CallInstruction)
				if !ok {
					continue
				}
				if sink.Effect(ir.Object(call.Common())) {
					return true
				}
				if callee := ir.Callee(call.Common()); callee != nil && callee.Pkg == c.Pkg.SSA && c.acts(callee) {
					return true
				}
			}
		}
		return false
	})
}

// compares tells whether fn makes a write, itself or through the functions it
// calls, that is not plain: it compares, is safe by a lock, or is partly out of
// sight.
func (c *Code) compares(fn *ssa.Function) bool {
	return c.compared.of(fn, func() bool {
		for _, b := range fn.Blocks {
			for _, in := range b.Instrs {
				if c.comparesIn(fn, in) {
					return true
				}
			}
		}
		return false
	})
}

func (c *Code) comparesIn(fn *ssa.Function, in ssa.Instruction) bool {
	if mc, ok := in.(*ssa.MakeClosure); ok {
		f, ok := mc.Fn.(*ssa.Function)
		return ok && f.Parent() == fn && c.compares(f)
	}
	call, ok := in.(ssa.CallInstruction)
	if !ok {
		return false
	}
	if s := c.Sink.Site(call); s != nil {
		return s.Judge == sink.Compared || s.Judge == sink.Unclear || s.Judge == sink.Plain && c.heldByTx(fn, s)
	}
	if callee := ir.Callee(call.Common()); callee != nil && callee.Pkg == c.Pkg.SSA {
		return c.compares(callee)
	}
	if obj := ir.Object(call.Common()); obj != nil {
		s := c.lookup.Func(obj)
		return s != nil && s.Compares
	}
	return false
}

// Writes returns the plain writes fn makes, itself or through the functions it
// calls, sorted.
func (c *Code) Writes(fn *ssa.Function) []Write {
	return c.writes.of(fn, func() []Write { return c.writesOf(fn) })
}

func (c *Code) writesOf(fn *ssa.Function) []Write {
	var out []Write
	add := func(ws []Write) {
		for _, w := range ws {
			i := slices.IndexFunc(out, func(o Write) bool { return o.Verb == w.Verb && o.Target == w.Target && o.Store == w.Store })
			switch {
			case i >= 0:
				out[i].Reported = out[i].Reported && w.Reported
			case len(out) < MaxWrites:
				out = append(out, w)
			}
		}
	}
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			if mc, ok := in.(*ssa.MakeClosure); ok {
				if f, ok := mc.Fn.(*ssa.Function); ok && f.Parent() == fn {
					add(c.Writes(f))
				}
				continue
			}
			call, ok := in.(ssa.CallInstruction)
			if !ok {
				continue
			}
			ws := c.CallWrites(call)
			if len(ws) > 0 && c.follows(call, ws) {
				ws = slices.Clone(ws)
				for i := range ws {
					ws[i].Reported = true
				}
			}
			add(ws)
		}
	}
	slices.SortFunc(out, func(a, b Write) int {
		return cmp.Or(cmp.Compare(a.Store, b.Store), cmp.Compare(a.Target, b.Target), cmp.Compare(a.Verb, b.Verb))
	})
	return out
}

// follows tells whether a call that writes comes after an ownership check of its
// own function.
func (c *Code) follows(call ssa.CallInstruction, ws []Write) bool {
	return slices.ContainsFunc(c.Authority.Local(call.Parent()), func(r authority.Region) bool {
		return r.Contains(call) && !r.Ev.Held && r.Ev.Kind != authority.Absent && (!r.Ev.Weak || ws[0].Remove)
	})
}

// CallWrites returns the plain writes behind one call, the call itself included.
func (c *Code) CallWrites(call ssa.CallInstruction) []Write {
	if s := c.Sink.Site(call); s != nil {
		if s.Judge != sink.Plain || c.heldByTx(call.Parent(), s) {
			return nil
		}
		return []Write{c.write(s)}
	}
	cc := call.Common()
	if callee := ir.Callee(cc); callee != nil && callee.Pkg == c.Pkg.SSA {
		return c.Writes(callee)
	}
	obj := ir.Object(cc)
	if obj == nil {
		return nil
	}
	s := c.lookup.Func(obj)
	if s == nil {
		return nil
	}
	if !s.joined {
		return s.Writes
	}
	out := slices.Clone(s.Writes)
	for i := range out {
		out[i].joined = true
	}
	return out
}

func (c *Code) write(s *sink.Site) Write {
	w := Write{Store: s.Spec.Store, Verb: s.Verb, Target: s.Target, Insert: s.Insert, StrictOnly: s.StrictOnly,
		Remove: s.Spec.Op == sink.Remove || s.Verb == "DELETE" || frees(s), Takes: takes(s), At: c.At(s.Call.Pos())}
	if s.Spec.Store != sink.SQL {
		w.API = resource.FuncKey(ir.Object(s.Call.Common()))
		if len(s.Texts) > 0 {
			w.Key = s.Texts[0]
		}
	}
	return w
}

// takes tells whether a write stores what one stores who takes a lock. Of a write
// whose columns are not known it is taken for granted.
func takes(s *sink.Site) bool {
	for _, sc := range s.Scripts {
		for _, st := range sc.Stmts {
			for _, w := range st.Writes {
				if (w.Replace || w.Conflict != nil) && lease.IsLockKey(w.Table.Name) {
					return true // the row is the lock, whoever has it
				}
				known := len(w.Columns) + len(w.Set)
				for _, col := range w.Columns {
					if authority.Takes(col) {
						return true
					}
				}
				for _, a := range w.Set {
					if authority.Takes(a.Column) {
						return true
					}
				}
				if known > 0 {
					return false
				}
			}
		}
	}
	return true
}

// frees tells whether a statement empties the owner column of a lock table: a
// release that keeps the row.
func frees(s *sink.Site) bool {
	return slices.ContainsFunc(s.Scripts, func(sc sqlstmt.Script) bool {
		return slices.ContainsFunc(sc.Stmts, func(st sqlstmt.Stmt) bool {
			return slices.ContainsFunc(st.Writes, func(w sqlstmt.Write) bool {
				return lease.IsLockKey(w.Table.Name) && sink.Frees(w)
			})
		})
	})
}

// At names a place without naming the machine: import path, file, line.
func (c *Code) At(pos token.Pos) string {
	p := c.Pkg.Fset.Position(pos)
	return fmt.Sprintf("%s:%d", path.Join(c.Pkg.Types.Path(), filepath.Base(p.Filename)), p.Line)
}

// Reads tells whether fn returns what it read from a store.
func (c *Code) Reads(fn *ssa.Function) bool {
	if out, ok := c.reads[fn]; ok {
		return out
	}
	c.reads[fn] = false
	res := fn.Signature.Results()
	if res.Len() == 0 {
		return false
	}
	switch res.At(0).Type().Underlying().(type) {
	case *types.Struct, *types.Pointer, *types.Slice:
	default:
		return false
	}
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			call, ok := in.(*ssa.Call)
			if !ok {
				continue
			}
			if sp, ok := c.Sink.Spec(&call.Call); ok && (sp.Op == sink.Read || sp.Store == sink.SQL) {
				c.reads[fn] = true
				return true
			}
			if callee := ir.Callee(&call.Call); callee != nil && callee.Pkg == c.Pkg.SSA {
				if c.Reads(callee) {
					c.reads[fn] = true
					return true
				}
			} else if obj := ir.Object(&call.Call); obj != nil {
				if s := c.lookup.Func(obj); s != nil && s.Reads {
					c.reads[fn] = true
					return true
				}
			}
		}
	}
	return false
}

// binds returns the parameters of fn that a store compares with an ownership
// expiry, bound in fn or in a function of another package that fn hands them to.
func (c *Code) binds(fn *ssa.Function) []Bind {
	var out []Bind
	add := func(v ssa.Value, what, at string) {
		if i := c.paramOf(fn, v); i >= 0 && !slices.ContainsFunc(out, func(b Bind) bool { return b.Param == i }) {
			out = append(out, Bind{Param: i, What: what, At: at})
		}
	}
	for _, b := range c.Expiry.In(fn) {
		add(b.Value, b.What, c.At(b.Pos))
	}
	for _, blk := range fn.Blocks {
		for _, in := range blk.Instrs {
			call, ok := in.(*ssa.Call)
			if !ok {
				continue
			}
			obj := ir.Object(&call.Call)
			if obj == nil || obj.Pkg() == c.Pkg.Types {
				continue
			}
			if s := c.lookup.Func(obj); s != nil {
				for _, b := range s.Binds {
					if a := sink.Arg(&call.Call, b.Param); a != nil {
						add(a, b.What, b.At)
					}
				}
			}
		}
	}
	return out
}

// paramOf returns which parameter of fn, the receiver not counted, v is a time
// or number made of; -1: none.
func (c *Code) paramOf(fn *ssa.Function, v ssa.Value) int {
	shift := 0
	if fn.Signature.Recv() != nil {
		shift = 1
	}
	found := -1
	var step func(v ssa.Value, depth int)
	step = func(v ssa.Value, depth int) {
		if v == nil || depth > 12 || found >= 0 {
			return
		}
		switch x := v.(type) {
		case *ssa.Parameter:
			found = slices.Index(fn.Params, x) - shift
		case *ssa.MakeInterface:
			step(x.X, depth+1)
		case *ssa.Convert:
			step(x.X, depth+1)
		case *ssa.ChangeType:
			step(x.X, depth+1)
		case *ssa.BinOp:
			step(x.X, depth+1)
		case *ssa.UnOp:
			if root := origin.Root(c.Pkg, x.X); root != nil {
				for _, w := range origin.Writes(root) {
					if st, ok := w.(*ssa.Store); ok {
						step(st.Val, depth+1)
					}
				}
			}
		case *ssa.Call:
			if obj := ir.Object(&x.Call); obj != nil && obj.Pkg() != nil && obj.Pkg().Path() == "time" && len(x.Call.Args) > 0 {
				step(x.Call.Args[0], depth+1)
			}
		}
	}
	step(v, 0)
	return found
}

// Fields returns the fields that this package scans from known columns.
func (c *Code) Fields() map[*types.Var]Stored {
	out := map[*types.Var]Stored{}
	for _, fn := range c.Pkg.Funcs {
		for _, b := range fn.Blocks {
			for _, in := range b.Instrs {
				fa, ok := in.(*ssa.FieldAddr)
				if !ok {
					continue
				}
				v := ir.FieldOf(fa.X.Type(), fa.Field)
				if v == nil || v.Pkg() != c.Pkg.Types || !v.Exported() || out[v].Column != "" {
					continue
				}
				for _, o := range c.Pkg.Outs(v) {
					if o.Addr != fa {
						continue
					}
					if t, col, ok := c.Record.Column(o.Call, fa); ok {
						out[v] = Stored{Table: t, Column: col}
					}
				}
			}
		}
	}
	return out
}
