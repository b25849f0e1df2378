// Package expiry answers one question: does this stored time end somebody's
// ownership of work, and with what does a store's condition compare it?
package expiry

import (
	"go/token"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/authority"
	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/lease"
	"github.com/fencelint/fence/analyzers/internal/record"
	"github.com/fencelint/fence/analyzers/internal/resource"
	"github.com/fencelint/fence/analyzers/internal/sink"
	"github.com/fencelint/fence/analyzers/internal/sqltext"
)

// Reader finds expiries in one package.
type Reader struct {
	Pkg       *ir.Package
	Policy    *resource.Policy
	Sink      *sink.Reader
	Text      *sqltext.Reader
	Authority *authority.Reader
	// Embedded: the package opens a database that runs inside the process, so its
	// clock is this one and binding the time changes nothing.
	Embedded bool
}

// Bound is a value that a store compares with an ownership expiry.
type Bound struct {
	Pos   token.Pos
	What  string // the column or key
	Value ssa.Value
}

// In returns the values that fn's calls bind to comparisons with an ownership
// expiry, in code order.
func (r *Reader) In(fn *ssa.Function) []Bound {
	var out []Bound
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			switch in := in.(type) {
			case *ssa.Call:
				out = append(out, r.sql(in)...)
				out = append(out, r.builderText(in)...)
				out = append(out, r.redis(in)...)
				out = append(out, r.dynamo(in)...)
				out = append(out, r.expression(in)...)
			case *ssa.MapUpdate:
				out = append(out, r.builderMap(in)...)
			}
		}
	}
	return out
}

// Strong words say lease or leadership and nothing else, so that they outweigh a
// word of something foreign.
var Strong = lease.Set{"lease": true, "leases": true, "leased": true, "leader": true, "leadership": true, "election": true, "elected": true, "elector": true}

// Owns tells whether a stored time, compared at the instruction at, decides who
// owns a piece of work, and why.
func (r *Reader) Owns(d record.Datum, at ssa.Instruction) (why string, ok bool) {
	if d.Request {
		return "", false
	}
	if d.Field != nil && r.Policy.ExpiryField(d.Struct, d.Field) || d.Kept != nil && r.Policy.ExpiryField(d.KeptIn, d.Kept) {
		return "fence.yaml names it as an expiry of ownership", true
	}
	if d.Column != "" && r.Policy.ExpiryColumn(d.Table, d.Column) {
		return "it is declared as an expiry of ownership", true
	}
	own, carrier := d.Own(), d.Carrier()
	strong := Strong.Has(own...) || Strong.Has(carrier...)
	if !strong && d.Foreign() {
		return "", false
	}
	switch {
	case lease.Ownership.Has(own...):
		return "by its name it ends a lease, lock or leadership", true
	case lease.Carrier.Has(carrier...):
		return "it belongs to a lock or lease", true
	case d.Struct != nil && lease.Expiry.Has(own...) && (authority.HasHolder(d.Struct) || r.Authority.OwnerStruct(d.Struct)):
		return "its record also names an owner", true
	case r.tableHasHolder(d.Table) && lease.Expiry.Has(own...):
		return "its row also names an owner", true
	case r.swapsKey(d, at):
		return "what it decides is who takes the key", true
	}
	return "", false
}

// ownsColumn is Owns for a column named in SQL.
func (r *Reader) ownsColumn(table, col string) bool {
	if r.Policy.ExpiryColumn(table, col) {
		return true
	}
	if !Strong.Has(col) && (lease.Foreign.Has(col) || lease.Foreign.Has(table)) {
		return false
	}
	return lease.Ownership.Has(col) || lease.Carrier.Has(table) || r.tableHasHolder(table) && lease.Expiry.Has(col)
}

// tableHasHolder tells whether the schema gives the table a column for the
// process that owns a row.
func (r *Reader) tableHasHolder(name string) bool {
	t := r.Policy.Table(name)
	if t == nil {
		return false
	}
	for _, c := range t.Columns {
		if lease.IsHolderName(c.Name) && !strings.HasSuffix(c.Base, "int") {
			return true
		}
	}
	return false
}

// swapsKey: the value was read from a key that this function also takes with SET
// NX.
func (r *Reader) swapsKey(d record.Datum, at ssa.Instruction) bool {
	if d.KeyValue == nil || d.Spec.Store != sink.Redis {
		return false
	}
	for _, b := range at.Parent().Blocks {
		for _, in := range b.Instrs {
			c, ok := in.(*ssa.Call)
			if !ok {
				continue
			}
			s, ok := r.Sink.Spec(&c.Call)
			if ok && s.Op == sink.Claim && sink.Arg(&c.Call, s.Key) == d.KeyValue {
				return true
			}
		}
	}
	return false
}
