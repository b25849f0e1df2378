package verdict

import (
	"cmp"
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/authority"
	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/lease"
	"github.com/fencelint/fence/analyzers/internal/record"
	"github.com/fencelint/fence/analyzers/internal/sink"
	"github.com/fencelint/fence/analyzers/internal/summary"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// late is one write that may land after ownership has moved.
type late struct {
	call    ssa.CallInstruction
	region  authority.Region
	write   summary.Write
	through *types.Func // the function whose write it is; nil: the call's own
	release bool        // it removes the very lock
}

// checkedWrites finds the writes that are reached only after an ownership check
// and do not repeat it. One verdict for each check and target; a release that
// compares nothing has its own.
func (j *judge) checkedWrites() {
	type key struct {
		ev      token.Pos
		target  string
		release bool
	}
	groups := map[key][]late{}
	var order []key
	for _, fn := range j.Pkg.Funcs {
		if testHelper(fn) {
			continue
		}
		regions := j.Authority.Regions(fn)
		if len(regions) == 0 {
			continue
		}
		for _, b := range fn.Blocks {
			for _, in := range b.Instrs {
				call, ok := in.(ssa.CallInstruction)
				if !ok {
					continue
				}
				for _, l := range j.lateWrites(call, regions) {
					k := key{l.region.Ev.Pos, string(l.write.Store) + " " + l.write.Target, l.release}
					if groups[k] == nil {
						order = append(order, k)
					}
					groups[k] = append(groups[k], l)
				}
			}
		}
	}
	for _, l := range append(j.bareReleases(), j.bareRowReleases()...) {
		k := key{l.call.Pos(), string(l.write.Store) + " " + l.write.Target, true}
		order = append(order, k)
		groups[k] = []late{l}
	}
	reported := map[token.Pos]bool{}
	for _, k := range order {
		g := groups[k]
		slices.SortStableFunc(g, func(a, b late) int { // what is deferred comes last
			return cmp.Or(cmp.Compare(j.deferred(a.call), j.deferred(b.call)), cmp.Compare(a.call.Pos(), b.call.Pos()))
		})
		if reported[g[0].call.Pos()] || j.said[g[0].call.Pos()] {
			continue // one place under two checks is one finding
		}
		for _, l := range g {
			reported[l.call.Pos()] = true
		}
		j.reportLate(g)
	}
}

// bareReleases finds the removals of a Redis key that this package takes with SET
// NX: wherever they are called from, they remove a successor's lock as well.
func (j *judge) bareReleases() []late {
	var taken []authority.Evidence
	var removals []ssa.CallInstruction
	for _, fn := range j.Pkg.Funcs {
		for _, b := range fn.Blocks {
			for _, in := range b.Instrs {
				c, ok := in.(ssa.CallInstruction)
				if !ok {
					continue
				}
				s, ok := j.Sink.Spec(c.Common())
				if !ok || s.Store != sink.Redis {
					continue
				}
				switch call, _ := c.(*ssa.Call); {
				case s.Op == sink.Claim && call != nil:
					if ev := j.Authority.Taken(call); lease.IsLockKey(ev.Key) {
						taken = append(taken, ev)
					}
				case s.Op == sink.Remove && !testHelper(fn) && !optimistic(fn):
					removals = append(removals, c)
				}
			}
		}
	}
	if len(taken) == 0 {
		return nil
	}
	var out []late
	for _, c := range removals {
		s := j.Sink.Site(c)
		if s == nil || s.Judge != sink.Plain {
			continue
		}
		k := sink.Arg(c.Common(), s.Spec.Key)
		i := slices.IndexFunc(taken, func(ev authority.Evidence) bool { return k != nil && j.Authority.SameKey(k, ev) })
		if i < 0 {
			continue
		}
		for _, w := range j.CallWrites(c) {
			out = append(out, late{call: c, region: authority.Region{Fn: c.Parent(), Ev: taken[i]}, write: w, release: true})
		}
	}
	return out
}

// bareRowReleases finds the statements that give up the row of a lock by its key alone,
// whoever has it, in a table whose locks this package takes for its process.
func (j *judge) bareRowReleases() []late {
	taken := map[string]authority.Evidence{}
	var releases []late
	for _, fn := range j.Pkg.Funcs {
		if testHelper(fn) || j.Pkg.Generated(fn.Pos()) || slices.ContainsFunc(fn.Params, func(p *ssa.Parameter) bool { return record.IsRequestType(p.Type()) }) {
			continue // a user's locks are not the process's
		}
		for _, b := range fn.Blocks {
			for _, in := range b.Instrs {
				c, ok := in.(ssa.CallInstruction)
				if !ok {
					continue
				}
				s := j.Sink.Site(c)
				if s == nil || s.Spec.Store != sink.SQL || !lease.Carrier.Has(s.Target) {
					continue
				}
				table := strings.ToLower(s.Target)
				switch _, known := taken[table]; {
				case everyWrite(s, func(w sqlstmt.Write) bool { return j.Authority.StoresSelf(s, w) }):
					if !known {
						taken[table] = authority.Evidence{Kind: authority.Acquired, Pos: c.Pos(), What: "claiming " + s.Target, Table: s.Target}
					}
				case s.Judge == sink.Plain && everyWrite(s, byKeyAlone):
					for _, w := range j.CallWrites(c) {
						releases = append(releases, late{call: c, region: authority.Region{Fn: fn}, write: w, release: true})
					}
				}
			}
		}
	}
	var out []late
	for _, l := range releases {
		ev, ok := taken[strings.ToLower(l.write.Target)]
		if !ok || j.protects(l.write) || j.TxHeld(l.call.Parent()) || j.guardedTx(l.call.Parent()) {
			continue
		}
		l.region.Ev = ev
		out = append(out, l)
	}
	return out
}

// everyWrite tells whether a site writes, and f holds for all that it writes.
func everyWrite(s *sink.Site, f func(sqlstmt.Write) bool) bool {
	found := false
	for _, sc := range s.Scripts {
		for _, st := range sc.Stmts {
			for _, w := range st.Writes {
				if found = true; !f(w) {
					return false
				}
			}
		}
	}
	return found
}

// byKeyAlone tells whether a write deletes the row of a lock, or takes it from whoever
// has it, by a key and nothing else.
func byKeyAlone(w sqlstmt.Write) bool {
	if len(w.Where) == 0 || w.WhereUnknown || slices.ContainsFunc(w.Where, func(c sqlstmt.Cond) bool {
		return c.Op != "=" || c.Left.Kind != sqlstmt.Column || c.Right.Kind != sqlstmt.Param && c.Right.Kind != sqlstmt.Literal
	}) {
		return false
	}
	return w.Op == sqlstmt.Delete || sink.Frees(w)
}

// deferred is 1 for a call that is deferred, itself or by the function literal it
// lies in.
func (j *judge) deferred(c ssa.CallInstruction) int {
	if _, ok := c.(*ssa.Defer); ok {
		return 1
	}
	for _, by := range j.Pkg.Callers(c.Parent()) {
		if _, ok := by.(*ssa.Defer); ok && c.Parent().Parent() != nil {
			return 1
		}
	}
	return 0
}

// testHelper tells whether a function takes part in tests: it is given a
// testing.T, or is a method of a test suite, which hands one out.
func testHelper(fn *ssa.Function) bool {
	if recv := fn.Signature.Recv(); recv != nil {
		t, _, _ := types.LookupFieldOrMethod(recv.Type(), true, nil, "T")
		if m, ok := t.(*types.Func); ok {
			res := m.Type().(*types.Signature).Results()
			return res.Len() == 1 && isTesting(res.At(0).Type())
		}
	}
	for _, p := range fn.Params {
		if isTesting(p.Type()) {
			return true
		}
	}
	return fn.Parent() != nil && testHelper(fn.Parent())
}

func isTesting(t types.Type) bool {
	n := ir.NamedOf(t)
	return n != nil && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "testing"
}

// lateWrites returns the plain writes behind call that lie in a region whose
// evidence they do not repeat.
func (j *judge) lateWrites(call ssa.CallInstruction, regions []authority.Region) []late {
	var best *authority.Region
	for i := range regions {
		if regions[i].Contains(call) {
			best = &regions[i]
			break
		}
	}
	if best == nil {
		return nil
	}
	callee := ir.Callee(call.Common())
	own := callee != nil && callee.Pkg == j.Pkg.SSA
	if own && j.Sink.Site(call) == nil && j.Authority.PrivateToOwners(callee) {
		return nil // reported inside
	}
	writes := j.CallWrites(call)
	if len(writes) == 0 {
		return nil
	}
	var out []late
	direct := j.Sink.Site(call) != nil
	for _, w := range writes {
		if w.Reported && !direct {
			continue // where check and write meet, in the function called
		}
		for i := range regions {
			reg := &regions[i]
			if !reg.Contains(call) {
				continue
			}
			release := j.isRelease(call, w, reg.Ev)
			if !j.counts(call, w, reg.Ev) {
				continue
			}
			l := late{call: call, region: *reg, write: w, release: release}
			if j.Sink.Site(call) == nil {
				l.through = ir.Object(call.Common())
			}
			out = append(out, l)
			break
		}
	}
	return out
}

// isRelease tells whether a write removes the lock that the evidence is about.
func (j *judge) isRelease(call ssa.CallInstruction, w summary.Write, ev authority.Evidence) bool {
	if !w.Remove {
		return false
	}
	if s := j.Sink.Site(call); s != nil && ev.KeyValue != nil {
		if k := sink.Arg(call.Common(), s.Spec.Key); k != nil {
			return j.Authority.SameKey(k, ev)
		}
	}
	return lease.IsLockKey(w.Target) || lease.IsLockKey(w.Key) || ev.Table != "" && strings.EqualFold(ev.Table, w.Target)
}

// counts tells whether a write under this evidence is a hazard.
func (j *judge) counts(call ssa.CallInstruction, w summary.Write, ev authority.Evidence) bool {
	switch {
	case w.StrictOnly && !j.in.Strict:
		return false
	case j.protects(w):
		return false // unfencedwrite speaks
	case blobs[w.Store] && strings.Trim(w.Key, sqlstmt.Hole) == "" && j.Sink.Site(call) == nil && !j.namesKey(call):
		return false // a store of blobs behind a function may well name them by their content
	case ev.Held:
		return false
	case ev.Weak && !w.Remove:
		return false
	case w.Insert && lease.Audit.Has(w.Target):
		return false
	case ev.Kind == authority.Absent:
		return !w.Remove && w.Takes && j.sameRecord(call, w, ev)
	case ev.Session && j.sameConn(call, ev):
		return false
	case w.Store == sink.SQL && (j.TxHeld(call.Parent()) || j.guardedTx(call.Parent())):
		return false
	case optimistic(call.Parent()), j.repeats(call, ev):
		return false
	}
	return true
}

// blobs are the stores of objects that programs often name by a hash of what is in
// them, so that nobody's object is ever overwritten.
var blobs = map[sink.Store]bool{sink.S3: true, sink.GCS: true, sink.Azure: true}

// namesKey tells whether one of a call's arguments is a text that is known in part.
func (j *judge) namesKey(call ssa.CallInstruction) bool {
	return slices.ContainsFunc(call.Common().Args, func(a ssa.Value) bool {
		b, ok := a.Type().Underlying().(*types.Basic)
		return ok && b.Kind() == types.String && slices.ContainsFunc(j.Text.Texts(a), func(t string) bool {
			return strings.Trim(t, sqlstmt.Hole) != ""
		})
	})
}

// protects tells whether a write is to a protected table or a declared resource.
func (j *judge) protects(w summary.Write) bool {
	if w.Store == sink.SQL {
		return j.Policy.Protection(sqlstmt.Table{Name: w.Target}) != nil
	}
	var keys []string
	if w.Key != "" {
		keys = []string{w.Key}
	}
	_, ok := j.Policy.WriteTo(w.API, keys)
	return ok
}

// sameRecord tells whether a create is of the key that was looked up before.
func (j *judge) sameRecord(call ssa.CallInstruction, w summary.Write, ev authority.Evidence) bool {
	if w.Key == ev.Key && w.Key != "" {
		return true
	}
	if ev.Table != "" {
		return strings.EqualFold(ev.Table, w.Target) && (!w.Insert || j.allowsTwo(w.Target))
	}
	if ev.Request || ev.Key == "" {
		return false
	}
	for _, a := range call.Common().Args {
		if b, ok := a.Type().Underlying().(*types.Basic); ok && b.Kind() == types.String {
			if a == ev.KeyValue || slices.Contains(j.Text.Texts(a), ev.Key) {
				return true
			}
		}
	}
	return false
}

// allowsTwo tells whether two processes may insert the same lock: the schema, as
// far as it is known, gives the table no key beside a generated one.
func (j *judge) allowsTwo(table string) bool {
	t := j.Policy.Table(table)
	if t == nil {
		return true
	}
	generated := func(cols []string) bool {
		return len(cols) == 1 && strings.EqualFold(cols[0], "id")
	}
	return (len(t.PrimaryKey) == 0 || generated(t.PrimaryKey)) && len(t.Uniques) == 0
}

// sameConn tells whether a write goes over the connection that holds the
// session's lock: they die together. A handle whose connection is out of sight
// counts as the same.
func (j *judge) sameConn(call ssa.CallInstruction, ev authority.Evidence) bool {
	if isPool(ev.Handle) {
		return false
	}
	h := sink.Receiver(call.Common())
	if h == nil || isPool(h) {
		return h == nil
	}
	locked, used := j.connections(ev.Handle), j.connections(h)
	if len(locked) == 0 || len(used) == 0 {
		return true
	}
	return slices.ContainsFunc(used, func(v ssa.Value) bool { return slices.Contains(locked, v) })
}

// isPool tells whether a handle is a pool, each of whose statements may take
// another connection.
func isPool(v ssa.Value) bool { return summary.IsPool(v.Type()) }

// connections returns where the connection behind a handle was opened: the call,
// or the parameter it came in by.
func (j *judge) connections(h ssa.Value) []ssa.Value {
	var out []ssa.Value
	j.Trace.Walk(h, func(v, filled ssa.Value) ([]ssa.Value, bool) {
		switch v := v.(type) {
		case *ssa.Call:
			obj := ir.Object(&v.Call)
			if obj == nil || filled != nil {
				return nil, true
			}
			switch obj.Name() {
			case "Begin", "BeginTx", "Beginx", "BeginTxx", "Conn":
				if recv := sink.Receiver(&v.Call); recv != nil && !isPool(recv) {
					return []ssa.Value{recv}, true
				}
			}
			if callee := ir.Callee(&v.Call); callee == nil || callee.Pkg != j.Pkg.SSA {
				out = append(out, v)
				return nil, true
			}
		case *ssa.Parameter:
			if len(j.Pkg.Callers(v.Parent())) == 0 {
				out = append(out, v)
			}
		case *ssa.FieldAddr:
			if f := ir.FieldOf(v.X.Type(), v.Field); f != nil && len(j.Pkg.Stores(f)) == 0 {
				out = append(out, v.X)
			}
		}
		return nil, false
	})
	return out
}

// repeats tells whether a statement compares the very column that was compared
// before it.
func (j *judge) repeats(call ssa.CallInstruction, ev authority.Evidence) bool {
	s := j.Sink.Site(call)
	if s == nil || ev.Column == "" {
		return false
	}
	for _, sc := range s.Scripts {
		for _, st := range sc.Stmts {
			for _, w := range st.Writes {
				for _, c := range w.Where {
					for _, e := range []sqlstmt.Expr{c.Left, c.Right} {
						if e.Kind == sqlstmt.Column && strings.EqualFold(e.Name, ev.Column) {
							return true
						}
					}
				}
			}
		}
	}
	return false
}

// guardedTx tells whether fn, or a function around it, makes in a transaction a
// write that compares, and looks at how many rows it changed: that row stays locked
// to the commit, so the transaction's other writes are as safe.
func (j *judge) guardedTx(fn *ssa.Function) bool {
	if !j.Pkg.Calls("RowsAffected") {
		return false
	}
	for f := fn; f != nil; f = f.Parent() {
		compared, counted := false, false
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				c, ok := in.(ssa.CallInstruction)
				if !ok {
					continue
				}
				if obj := ir.Object(c.Common()); obj != nil && obj.Name() == "RowsAffected" {
					counted = true
				}
				s := j.Sink.Site(c)
				if s != nil && s.Spec.Store == sink.SQL && s.Judge == sink.Compared && s.Verb == "UPDATE" && isTx(s.Handle) {
					compared = true
				}
			}
		}
		if compared && counted {
			return true
		}
	}
	return false
}

// isTx tells whether a handle is a transaction.
func isTx(v ssa.Value) bool { return isTxType(v.Type()) }

// optimistic tells whether fn is the body of an optimistic transaction: redis
// WATCH hands it a *redis.Tx, etcd's STM an STM.
func optimistic(fn *ssa.Function) bool {
	for f := fn; f != nil; f = f.Parent() {
		for _, p := range f.Params {
			if ir.IsNamed(p.Type(), "github.com/redis/go-redis/v9", "Tx") ||
				ir.IsNamed(p.Type(), "go.etcd.io/etcd/client/v3/concurrency", "STM") {
				return true
			}
		}
	}
	return false
}

// reason says what each kind of evidence is, and what to compare instead.
var reasons = map[authority.Kind]struct{ checked, again string }{
	authority.Acquired:      {"%s has taken the lock", "the lock's token or owner"},
	authority.Checked:       {"%s has confirmed ownership", "the owner, the token or the leader's term"},
	authority.OwnerCompared: {"%s was compared with this process's identity", "the owner"},
	authority.TokenCompared: {"%s was compared", "that token"},
	authority.Unexpired:     {"%s was found not to have run out", "the owner or token"},
	authority.Absent:        {"by %s the lock is free", "that it is still free (the owner or expiry in the WHERE, If-None-Match, SET NX, ON CONFLICT DO NOTHING)"},
	authority.Callback:      {"%s runs this as owner", "the lock's token, the leader's term or the object's version"},
}

func (j *judge) reportLate(g []late) {
	l := g[0]
	r := reasons[l.region.Ev.Kind]
	checked := fmt.Sprintf(r.checked, l.region.Ev.What)
	what := l.write.Verb
	if l.write.Target != "" {
		what += " of " + l.write.Target
	}
	where := ""
	if l.through != nil {
		where = fmt.Sprintf(" in %s (%s%s)", authority.FuncName(l.through), l.write.At, l.write.Mark())
	}
	var msg string
	switch {
	case l.release:
		msg = fmt.Sprintf("%s%s may remove a successor's lock: %s at %s, a pause outlasts the lease, another process takes it, then this removes it whoever owns it; compare the owner in the same step",
			what, where, checked, j.line(l.region.Ev.Pos))
	case l.region.Ev.Kind == authority.Absent:
		msg = fmt.Sprintf("%s%s may overwrite another's lock: %s at %s, another process takes it in between, then this overwrites it; make the write itself require %s",
			what, where, checked, j.line(l.region.Ev.Pos), r.again)
	default:
		msg = fmt.Sprintf("%s%s may land after ownership has moved: %s at %s, a pause outlasts the lease, a successor writes, then this write lands over it; compare %s in the write itself",
			what, where, checked, j.line(l.region.Ev.Pos), r.again)
	}
	if n := len(g) - 1; n > 0 {
		var more []string
		for _, o := range g[1:] {
			more = append(more, j.line(o.call.Pos()))
		}
		msg += fmt.Sprintf(" (also %s)", strings.Join(slices.Compact(more), ", "))
	}
	v := Verdict{Check: CheckThenWrite, Pos: l.call.Pos(), Message: msg, Resource: string(l.write.Store) + " " + l.write.Target}
	v.Related = append(v.Related, Related{l.region.Ev.Pos, "1. ownership is checked here: " + checked})
	for _, p := range l.region.Via {
		v.Related = append(v.Related, Related{p, "   from here on it is taken for granted"})
	}
	v.Related = append(v.Related, Related{l.call.Pos(), "2. a pause before this write outlasts the lease; a successor is granted ownership and writes; 3. this write lands late"})
	for _, o := range g[1:] {
		v.Related = append(v.Related, Related{o.call.Pos(), "   so does this one"})
	}
	v.Related = slices.DeleteFunc(v.Related, func(r Related) bool { return !r.Pos.IsValid() })
	j.out = append(j.out, v)
}
