package authority

// This file finds the looks at a lock that find it free: nobody is its holder, its
// row is not there.

import (
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/lease"
	"github.com/fencelint/fence/analyzers/internal/record"
	"github.com/fencelint/fence/analyzers/internal/sink"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// isZero tells whether v is the constant "", 0 or false.
func isZero(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	if !ok || c.Value == nil {
		return false
	}
	switch c.Value.Kind() {
	case constant.String:
		return constant.StringVal(c.Value) == ""
	case constant.Int:
		return constant.Sign(c.Value) == 0
	case constant.Bool:
		return !constant.BoolVal(c.Value)
	}
	return false
}

// takenWords name a flag that says whether something is held.
var takenWords = lease.Set{"locked": true, "held": true, "taken": true, "busy": true, "leased": true, "claimed": true}

// free: the stored holder of a lock is empty, or its flag is not set.
func (r *Reader) free(pos token.Pos, v ssa.Value) []Evidence {
	for _, d := range r.Record.Of(v) {
		if d.Request || d.Foreign() {
			continue
		}
		if d.Exists && lease.IsLockKey(d.Table) {
			return []Evidence{{Kind: Absent, Pos: pos, What: "a look at " + d.Table, Table: d.Table}}
		}
		own := d.Own()
		if !holderNamed(own) && !takenWords.Has(own...) && !(lease.Carrier.Has(own...) && idName(d)) {
			continue
		}
		if !lease.IsLockKey(d.Table) && !lease.IsLockKey(d.Key) && !lease.Carrier.Has(d.Names()...) {
			continue
		}
		ev := Evidence{Kind: Absent, Pos: pos, What: d.String(), Table: r.tableName(d), Key: d.Key, KeyValue: d.KeyValue, Request: d.Key != "" && d.Spec.Input >= 0}
		if d.Read != nil && ev.Table == "" && ev.Key == "" {
			if s := r.Sink.Site(d.Read); s != nil && s.Spec.Input >= 0 && len(s.Texts) > 0 {
				ev.Key, ev.Request = s.Texts[0], true
			}
		}
		if ev.Table != "" || ev.Key != "" {
			return []Evidence{ev}
		}
	}
	return nil
}

// Takes tells whether a column is one that is set when a lock is taken: an owner,
// an end, a flag, or one that is not known.
func Takes(column string) bool {
	return lease.IsHolderName(column) || lease.Expiry.Has(column) || takenWords.Has(column) ||
		column == sink.UnknownColumn || strings.Contains(column, sqlstmt.Hole)
}

func holderNamed(names []string) bool {
	for _, n := range names {
		if lease.IsHolderName(n) {
			return true
		}
	}
	return false
}

// tableName is the table of a datum, by gorm's rule where a model was read.
func (r *Reader) tableName(d record.Datum) string {
	if d.Table != "" || d.Struct == nil || d.Read == nil {
		return d.Table
	}
	if obj := ir.Object(&d.Read.Call); obj != nil && obj.Pkg() != nil && obj.Pkg().Path() == "gorm.io/gorm" {
		return r.Sink.ModelTable(d.Struct)
	}
	return ""
}

// notFoundErrors are the errors by which stores say that there is no such record.
var notFoundErrors = map[string]bool{
	"database/sql.ErrNoRows": true, "github.com/jackc/pgx/v5.ErrNoRows": true,
	"gorm.io/gorm.ErrRecordNotFound": true, "github.com/redis/go-redis/v9.Nil": true,
}

func isNotFound(v ssa.Value) bool {
	for range 4 {
		switch x := v.(type) {
		case *ssa.MakeInterface:
			v = x.X
			continue
		case *ssa.UnOp:
			g, ok := x.X.(*ssa.Global)
			return ok && g.Pkg != nil && notFoundErrors[g.Pkg.Pkg.Path()+"."+g.Name()]
		case *ssa.Const: // redis.Nil is a constant of a type of its own
			return ir.IsNamed(x.Type(), "github.com/redis/go-redis/v9/internal/proto", "RedisError")
		}
		return false
	}
	return false
}

// notFound: the error says that a lock's record is not there.
func (r *Reader) notFound(err ssa.Value) []Evidence {
	var out []Evidence
	r.Sink.Trace.Walk(err, func(v, filled ssa.Value) ([]ssa.Value, bool) {
		if fa, ok := v.(*ssa.FieldAddr); ok { // gorm's result
			if f := ir.FieldOf(fa.X.Type(), fa.Field); f != nil && f.Name() == "Error" {
				return []ssa.Value{fa.X}, true
			}
		}
		c, ok := v.(*ssa.Call)
		if !ok || filled != nil {
			return nil, filled != nil
		}
		obj := ir.Object(&c.Call)
		if obj == nil {
			return nil, true
		}
		ev := Evidence{Kind: Absent, Pos: c.Pos(), What: callName(&c.Call)}
		switch {
		case obj.Name() == "Scan" && sink.Receiver(&c.Call) != nil:
			return []ssa.Value{sink.Receiver(&c.Call)}, true
		case obj.Name() == "Result" || obj.Name() == "Err":
			if recv := sink.Receiver(&c.Call); recv != nil {
				return []ssa.Value{recv}, true
			}
		case obj.Pkg() != nil && obj.Pkg().Path() == "gorm.io/gorm":
			if n := model(c); n != nil {
				if ev.Table = r.Sink.ModelTable(n); lease.IsLockKey(ev.Table) {
					out = append(out, ev)
				}
			}
			return nil, true
		}
		s := r.Sink.Site(c)
		if s == nil {
			return nil, false
		}
		for _, sc := range s.Scripts {
			for _, st := range sc.Stmts {
				if st.Query != nil && len(st.Query.From) > 0 && lease.IsLockKey(st.Query.From[0].Name) {
					ev.Table = st.Query.From[0].Name
					out = append(out, ev)
				}
			}
		}
		if s.Spec.Key >= 0 {
			if k := r.acquired(c); lease.IsLockKey(k.Key) {
				k.Kind = Absent
				out = append(out, k)
			}
		}
		return nil, true
	})
	return out
}

// model returns the struct that a gorm call fills.
func model(c *ssa.Call) *types.Named {
	a := sink.Arg(&c.Call, 0)
	mi, ok := a.(*ssa.MakeInterface)
	if !ok {
		return nil
	}
	return ir.NamedOf(mi.X.Type())
}
