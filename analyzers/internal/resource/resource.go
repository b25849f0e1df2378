// Package resource answers one question: which calls, types, fields and columns
// does the user's configuration declare to be protected, owned or a clock?
package resource

import (
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/internal/config"
	"github.com/fencelint/fence/internal/schema"
)

// Policy is a configuration, indexed by name. A nil Policy declares nothing.
type Policy struct {
	Config *config.Config
	Schema *schema.Schema // may be nil

	writes    map[string]string // function -> resource
	fenced    map[string]bool
	checks    map[string]bool
	acquire   map[string]bool
	callbacks map[string]bool
	clocks    map[string]bool
	expiries  map[string]bool
}

// New indexes c; s is the schema it names, or nil.
func New(c *config.Config, s *schema.Schema) *Policy {
	p := &Policy{
		Config: c, Schema: s,
		writes: map[string]string{}, fenced: map[string]bool{},
		checks: names(c.Leases.Checks), acquire: names(c.Leases.Acquire), callbacks: names(c.Leases.Callbacks),
		clocks: names(c.Leases.Clocks), expiries: names(c.Leases.Expiries),
	}
	for _, r := range c.Resources {
		for _, n := range r.Writes {
			p.writes[n.Text] = r.Name.Text
		}
		for _, n := range r.Fenced {
			p.fenced[n.Text] = true
		}
	}
	return p
}

func names(ns []config.Name) map[string]bool {
	m := make(map[string]bool, len(ns))
	for _, n := range ns {
		m[n.Text] = true
	}
	return m
}

// Empty tells whether the policy changes nothing about what code means.
func (p *Policy) Empty() bool {
	return p == nil || len(p.writes)+len(p.fenced)+len(p.checks)+len(p.acquire)+len(p.callbacks)+len(p.clocks)+len(p.expiries) == 0
}

// FuncKey names a function as in go doc: path.Func or path.Type.Method.
func FuncKey(f *types.Func) string {
	if f.Pkg() == nil {
		return f.Name()
	}
	if recv := f.Type().(*types.Signature).Recv(); recv != nil {
		if n := ir.NamedOf(recv.Type()); n != nil {
			return f.Pkg().Path() + "." + n.Obj().Name() + "." + f.Name()
		}
	}
	return f.Pkg().Path() + "." + f.Name()
}

// FieldKey names a field: path.Type.Field.
func FieldKey(n *types.Named, f *types.Var) string {
	if n == nil || n.Obj().Pkg() == nil {
		return ""
	}
	return n.Obj().Pkg().Path() + "." + n.Obj().Name() + "." + f.Name()
}

// Write returns the resource that a call of f changes, if f is declared.
func (p *Policy) Write(f *types.Func) (string, bool) {
	if p == nil || len(p.writes) == 0 {
		return "", false
	}
	name, ok := p.writes[FuncKey(f)]
	return name, ok
}

// Check tells whether f is a declared ownership check.
func (p *Policy) Check(f *types.Func) bool { return p != nil && p.checks[FuncKey(f)] }

// Acquire tells whether f is declared to take ownership.
func (p *Policy) Acquire(f *types.Func) bool { return p != nil && p.acquire[FuncKey(f)] }

// Clock tells whether f is declared to be a clock.
func (p *Policy) Clock(f *types.Func) bool { return p != nil && p.clocks[FuncKey(f)] }

// Callback tells whether f is declared to run its function arguments as owner.
func (p *Policy) Callback(f *types.Func) bool { return p != nil && p.callbacks[FuncKey(f)] }

// CheckField tells whether a function-typed field is a declared check.
func (p *Policy) CheckField(n *types.Named, f *types.Var) bool {
	return p != nil && len(p.checks) > 0 && p.checks[FieldKey(n, f)]
}

// CheckValue tells whether v is a call of a function-typed field or package
// variable that is a declared check.
func (p *Policy) CheckValue(c *ssa.CallCommon) (string, bool) {
	if p == nil || len(p.checks) == 0 {
		return "", false
	}
	ld, ok := c.Value.(*ssa.UnOp)
	if !ok {
		return "", false
	}
	switch a := ld.X.(type) {
	case *ssa.FieldAddr:
		f, n := ir.FieldOf(a.X.Type(), a.Field), ir.NamedOf(a.X.Type())
		if f != nil && n != nil && p.CheckField(n, f) {
			return n.Obj().Name() + "." + f.Name(), true
		}
	case *ssa.Global:
		if a.Pkg != nil && p.checks[a.Pkg.Pkg.Path()+"."+a.Name()] {
			return a.Name(), true
		}
	}
	return "", false
}

// ExpiryField tells whether a struct field is a declared ownership expiry.
func (p *Policy) ExpiryField(n *types.Named, f *types.Var) bool {
	return p != nil && len(p.expiries) > 0 && n != nil && p.expiries[FieldKey(n, f)]
}

// ExpiryColumn tells whether table.column is a declared ownership expiry, in
// fence.yaml or by a directive in the schema.
func (p *Policy) ExpiryColumn(table, column string) bool {
	if p == nil || column == "" {
		return false
	}
	for name := range p.expiries {
		t, c, ok := strings.Cut(name, ".")
		if ok && !strings.Contains(name, "/") && strings.EqualFold(c, column) && (table == "" || strings.EqualFold(t, table)) {
			return true
		}
	}
	if p.Schema == nil {
		return false
	}
	t := p.Schema.Table("", table)
	if t == nil {
		return false
	}
	c := t.Column(column)
	if c == nil {
		return false
	}
	for _, d := range c.Directives {
		if d.Verb == "expiry" {
			return true
		}
	}
	return false
}
