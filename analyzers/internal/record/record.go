// Package record answers one question: which stored record, column, key or
// message does this value come from?
package record

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/lease"
	"github.com/fencelint/fence/analyzers/internal/origin"
	"github.com/fencelint/fence/analyzers/internal/sink"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// Datum is one stored value.
type Datum struct {
	Table, Column string       // of a row, as far as known
	Field         *types.Var   // the struct field it is read from
	Struct        *types.Named // that field's struct
	Kept          *types.Var   // the field of this program's own struct it was put into afterwards
	KeptIn        *types.Named
	Key           string       // of a key-value store, with … for unknown pieces
	KeyValue      ssa.Value    // the key argument
	Read          *ssa.Call    // the call that read it, if it is in sight
	Spec          sink.Spec    // of Read, if it is a store's
	Handle        ssa.Value    // what Read was made on
	Lock          sqlstmt.Lock // the row lock the reading statement took
	Where         []sqlstmt.Cond
	Exists        bool // it says whether there is such a row
	Request       bool // it came in with a request
}

// Names returns all names that describe d, for word tests.
func (d Datum) Names() []string {
	out := []string{d.Table, d.Column, d.Key}
	if d.Field != nil {
		out = append(out, d.Field.Name())
	}
	if d.Struct != nil {
		out = append(out, d.Struct.Obj().Name())
	}
	if d.KeptIn != nil {
		out = append(out, d.Kept.Name(), d.KeptIn.Obj().Name())
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// Own returns the names of the value itself: column and field, not its row.
func (d Datum) Own() []string {
	out := []string{d.Column}
	if d.Field != nil {
		out = append(out, d.Field.Name())
	}
	if d.Kept != nil {
		out = append(out, d.Kept.Name())
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// Carrier returns the names of what holds the value: table, struct and key.
func (d Datum) Carrier() []string {
	out := []string{d.Table, d.Key}
	if d.Struct != nil {
		out = append(out, d.Struct.Obj().Name())
	}
	if d.KeptIn != nil {
		out = append(out, d.KeptIn.Obj().Name())
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// Foreign tells whether d, by its names, is agreed with somebody else or decides
// nothing about the ownership of work: a session, a certificate, a JWT's claims.
func (d Datum) Foreign() bool {
	if d.LockSession() {
		return false
	}
	if lease.Foreign.Has(d.Names()...) {
		return true
	}
	return d.Struct != nil && slices.Contains(lease.Words(d.Struct.Obj().Name()), "claims")
}

// LockSession tells whether d is the session that holds a key of Consul.
func (d Datum) LockSession() bool {
	return d.Field != nil && d.Field.Name() == "Session" && d.Struct != nil && ir.IsNamed(d.Struct, "github.com/hashicorp/consul/api", "KVPair")
}

// String names d for a message: table.column, Type.Field, or the key.
func (d Datum) String() string {
	switch {
	case d.Column != "" && d.Table != "":
		return d.Table + "." + d.Column
	case d.Column != "":
		return d.Column
	case d.Field != nil && d.Struct != nil:
		return d.Struct.Obj().Name() + "." + d.Field.Name()
	case d.Field != nil:
		return d.Field.Name()
	case d.Key != "":
		return "the value of " + d.Key
	}
	return "a stored value"
}

// Reader finds the stored origins of values of one package.
type Reader struct {
	Pkg   *ir.Package
	Trace *origin.Tracer
	Sink  *sink.Reader
	// Stored gives the column that a field of another package is scanned from.
	Stored func(*types.Var) (table, column string, ok bool)
	// Reads tells whether a function or interface method of this module returns
	// what it read from a store.
	Reads func(*types.Func) bool
	// Now tells whether a value is this process's time with its monotonic reading.
	Now func(ssa.Value) bool

	memo    map[ssa.Value][]Datum
	decoded map[*types.Named]bool
	// rowTypes are the structs that pgx fills from rows.
	rowTypes map[*types.Named]bool
}

// Of returns the stored values among v's origins, in the order the walk meets
// them.
func (r *Reader) Of(v ssa.Value) []Datum {
	if d, ok := r.memo[v]; ok {
		return d
	}
	if r.memo == nil {
		r.memo = map[ssa.Value][]Datum{}
	}
	r.memo[v] = nil
	var out []Datum
	var field *types.Var // the outermost field the walk came through
	var strct *types.Named
	r.Trace.Walk(v, func(v, addr ssa.Value) ([]ssa.Value, bool) {
		switch v := v.(type) {
		case *ssa.Call:
			if addr != nil {
				if d, ok := r.filled(v, addr); ok {
					if d.Field == nil {
						d.Field, d.Struct = field, strct
					}
					out = append(out, d)
				}
				return nil, true
			}
			next, d, handled := r.call(v)
			if d != nil {
				if d.Field == nil {
					d.Field, d.Struct = field, strct
				}
				out = append(out, *d)
			}
			return next, handled
		case *ssa.FieldAddr:
			return r.field(v.X, v.Field, &field, &strct, &out)
		case *ssa.Field:
			return r.field(v.X, v.Field, &field, &strct, &out)
		case *ssa.BinOp:
			if v.Op == token.ADD || v.Op == token.SUB || v.Op == token.MUL || v.Op == token.QUO {
				return []ssa.Value{v.X, v.Y}, true
			}
		}
		return nil, false
	})
	for i := range out {
		if field != nil && strct != nil && out[i].Field != field {
			out[i].Kept, out[i].KeptIn = field, strct
		}
	}
	r.memo[v] = out
	return out
}
