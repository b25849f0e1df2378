package authority

// This file finds comparisons of a stored owner or token with this process's own.

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/lease"
	"github.com/fencelint/fence/analyzers/internal/record"
	"github.com/fencelint/fence/analyzers/internal/sink"
	"github.com/fencelint/fence/internal/sqlstmt"
)

var equal = map[string]bool{
	"bytes.Equal": true, "strings.EqualFold": true, "reflect.DeepEqual": true,
}

// compared: x and y are compared; one is a stored owner or token.
func (r *Reader) compared(pos token.Pos, x, y ssa.Value, equal bool) []Evidence {
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
	if d.Field != nil && d.Struct != nil && r.Token != nil && r.Token(d.Struct, d.Field) ||
		r.Sink.Token != nil && d.Column != "" && r.Sink.Token(d.Table, d.Column) {
		ev.Kind = TokenCompared
		return []Evidence{ev}
	}
	if !equal {
		return nil
	}
	holder := slices.ContainsFunc(d.Own(), lease.IsHolderName) || d.LockSession() || r.storesOwn(d, mine)
	carrier := (lease.Ownership.Has(d.Carrier()...) || lease.IsLockKey(d.Key) || lease.Carrier.Has(d.Own()...)) && !d.Foreign()
	ownerWord := lease.Owner.Has(d.Carrier()...)
	whose := r.identity(mine)
	if d.LockSession() {
		whose = isSelf // a session is its process's, whatever its field is called
	}
	switch whose {
	case isSelf:
		if holder || slices.ContainsFunc(d.Own(), lease.IsWorkerName) || (carrier && (d.Spec.Store != "" && d.Spec.Store != sink.SQL || idName(d))) {
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
			if record.IsStoredField(v.X.Type(), v.Field, ir.NamedOf(v.X.Type())) {
				if p, ok := v.X.(*ssa.Parameter); ok && len(r.Pkg.Callers(p.Parent())) == 0 && s == notSelf {
					s = outOfSight // the record that its caller keeps
				} else {
					bad = true
				}
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
	if f == nil || n == nil || record.IsStoredField(base.Type(), i, n) || record.IsRequestType(base.Type()) {
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
