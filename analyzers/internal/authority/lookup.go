package authority

// This file finds what a look at a lock record says: absent, expired, still running.

import (
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/lease"
	"github.com/fencelint/fence/analyzers/internal/origin"
	"github.com/fencelint/fence/analyzers/internal/sink"
	"github.com/fencelint/fence/internal/sqlstmt"
)

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

// setIfAbsent: the error of a SET with mode NX is nil only if the key was set.
func (r *Reader) setIfAbsent(c *ssa.Call, obj *types.Func) (Evidence, bool) {
	if obj == nil || obj.Name() != "Err" && obj.Name() != "Result" {
		return Evidence{}, false
	}
	recv := sink.Receiver(&c.Call)
	if fa, ok := recv.(*ssa.FieldAddr); ok { // Err is the method of what the reply embeds
		recv = fa.X
	}
	set, ok := recv.(*ssa.Call)
	if !ok {
		return Evidence{}, false
	}
	site := r.Sink.Site(set)
	if site == nil || site.Spec.Op != sink.Claim || site.Spec.Verb != "SetArgs" {
		return Evidence{}, false
	}
	ev := r.acquired(set)
	return ev, ev.KeyValue != nil && (lease.IsLockKey(ev.Key) || r.releases(ev))
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
	vals, _ := origin.Variadic(k)
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

// unexpired: a stored expiry lies after this process's clock, so the lease is
// taken for valid; or before it, so the lock is taken for free.
func (r *Reader) unexpired(c *ssa.Call, obj *types.Func, want bool) (Evidence, bool) {
	if obj.Pkg() == nil || obj.Pkg().Path() != "time" || len(c.Call.Args) != 2 {
		return Evidence{}, false
	}
	switch obj.Name() {
	case "After", "Before":
	case "Equal": // "or runs out right now"
		if !want {
			return Evidence{}, false
		}
		if ev, ok := r.expiryAgainst(c.Pos(), c.Call.Args[0], c.Call.Args[1], true); ok {
			return ev, true
		}
		return r.expiryAgainst(c.Pos(), c.Call.Args[1], c.Call.Args[0], true)
	default:
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
	if ev, ok := r.storedExpiry(pos, stored, valid); ok {
		return ev, ok
	}
	f, n := deadlineField(stored)
	if valid && n != nil && lease.Expiry.Has(f.Name()) &&
		(lease.Carrier.Has(n.Obj().Name()) && (HasHolder(n) || tellsLoss(n)) || r.OwnerStruct(n)) {
		return Evidence{Kind: Unexpired, Pos: pos, What: n.Obj().Name() + "." + f.Name()}, true // this process's own copy
	}
	return Evidence{}, false
}

// storedExpiry: stored is an expiry of a lock, or an instant that others add a time
// to.
func (r *Reader) storedExpiry(pos token.Pos, stored ssa.Value, valid bool) (Evidence, bool) {
	for _, d := range r.Record.Of(stored) {
		if d.Request || d.Foreign() || !lease.Expiry.Has(d.Own()...) {
			continue
		}
		owned := d.Struct != nil && (HasHolder(d.Struct) || r.OwnerStruct(d.Struct))
		if !owned && !lease.Ownership.Has(d.Names()...) {
			continue
		}
		ev := Evidence{Kind: Unexpired, Pos: pos, What: d.String(), Table: d.Table, Column: d.Column}
		if !valid {
			ev.Kind = Absent
			if ev.Key == "" && lease.IsLockKey(d.Key) {
				ev.Key, ev.Request = d.Key, d.Spec.Input >= 0
			}
			return ev, owned || ev.Key != "" || d.Table != "" || d.Struct != nil && lease.Carrier.Has(d.Struct.Obj().Name())
		}
		return ev, d.Struct != nil && HasHolder(d.Struct)
	}
	return Evidence{}, false
}

// age: how long ago a stored instant is, compared with a bound on the right. young
// says whether the branch taken holds it for the smaller.
func (r *Reader) age(v *ssa.BinOp, young bool) (Evidence, bool) {
	c, ok := v.X.(*ssa.Call)
	if !ok {
		if c, ok = v.Y.(*ssa.Call); !ok {
			return Evidence{}, false
		}
		young = !young
	}
	obj := ir.Object(&c.Call)
	if obj == nil || obj.FullName() != "time.Since" {
		return Evidence{}, false
	}
	return r.storedExpiry(v.Pos(), c.Call.Args[0], young)
}

// deadlineField returns the field that a time is read from, and its struct.
func deadlineField(v ssa.Value) (*types.Var, *types.Named) {
	ld, ok := v.(*ssa.UnOp)
	if !ok {
		return nil, nil
	}
	fa, ok := ld.X.(*ssa.FieldAddr)
	if !ok {
		return nil, nil
	}
	f, n := ir.FieldOf(fa.X.Type(), fa.Field), ir.NamedOf(fa.X.Type())
	if f == nil || n == nil {
		return nil, nil
	}
	return f, n
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

// tellsLoss tells whether a struct is a process's own view of what it holds: a
// channel or a cancel function beside the expiry tells its users of the loss.
func tellsLoss(n *types.Named) bool {
	s, ok := n.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for i := range s.NumFields() {
		t := types.Unalias(s.Field(i).Type())
		if ir.IsNamed(t, "context", "CancelFunc") || ir.IsNamed(t, "context", "CancelCauseFunc") {
			return true
		}
		if ch, ok := t.Underlying().(*types.Chan); ok {
			if e, ok := ch.Elem().Underlying().(*types.Struct); ok && e.NumFields() == 0 {
				return true
			}
		}
	}
	return false
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
	s := r.Sink.Site(c)
	if s != nil && s.Spec.Store == sink.SQL {
		ev := Evidence{Kind: Absent, Pos: c.Pos(), What: callName(&c.Call)}
		for _, d := range r.Record.Of(v) {
			if lease.IsLockKey(d.Table) {
				ev.Table = d.Table
				return []Evidence{ev}
			}
		}
		return nil
	}
	return r.absentIn(c)
}

// absentIn: what a call that is no SQL read looked for is not there.
func (r *Reader) absentIn(c *ssa.Call) []Evidence {
	if ir.Object(&c.Call) == nil {
		return nil
	}
	ev := Evidence{Kind: Absent, Pos: c.Pos(), What: callName(&c.Call)}
	s := r.Sink.Site(c)
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
	if callee := ir.Callee(&c.Call); callee != nil && callee.Pkg == r.Pkg.SSA {
		if key := r.readsLock(callee); key != "" {
			ev.Key, ev.Request = key, true
			return []Evidence{ev}
		}
		if table := r.readsLockRow(callee); table != "" {
			ev.Table = table
			return []Evidence{ev}
		}
	}
	return nil
}

// readsLockRow returns the table of locks that the one statement of fn reads, "" if it
// sends none or more.
func (r *Reader) readsLockRow(fn *ssa.Function) string {
	table, sites := "", 0
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			c, ok := in.(*ssa.Call)
			if !ok {
				continue
			}
			s := r.Sink.Site(c)
			if s == nil || s.Spec.Store != sink.SQL {
				continue
			}
			sites++
			for _, sc := range s.Scripts {
				for _, st := range sc.Stmts {
					if st.Query == nil || len(st.Writes) > 0 || len(st.Query.From) != 1 {
						return ""
					}
					table = st.Query.From[0].Name
				}
			}
		}
	}
	if sites != 1 || !lease.IsLockKey(table) {
		return ""
	}
	return table
}

// readsLock returns the key of the lock's object that fn itself reads, "" if it
// reads none.
func (r *Reader) readsLock(fn *ssa.Function) string {
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			c, ok := in.(*ssa.Call)
			if !ok {
				continue
			}
			s := r.Sink.Site(c)
			if s == nil || s.Spec.Op != sink.Read || s.Spec.Store == sink.SQL {
				continue
			}
			for _, t := range s.Texts {
				if lease.IsLockKey(t) {
					return t
				}
			}
		}
	}
	return ""
}
