// Package resource answers one question: which calls, types, fields and columns
// does the user's configuration declare to be protected, owned or a clock?
package resource

import (
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/internal/config"
	"github.com/fencelint/fence/internal/schema"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// Policy is a configuration, indexed by name. A nil Policy declares nothing.
type Policy struct {
	Config *config.Config

	schema func() *schema.Schema

	writes    map[string]resource // by function
	fenced    map[string]string   // the resource, by function
	checks    map[string]bool
	acquire   map[string]bool
	callbacks map[string]bool
	renew     map[string]bool
	release   map[string]bool
	lost      map[string]bool
	clocks    map[string]bool
	expiries  map[string]bool
	tokens    map[string]bool // Go names and table.column, of tokens and grants
	columns   map[string]bool // fence columns of any table

	mu        sync.Mutex // several packages may ask at once
	protected map[string]*Protection
}

// resource is what a declared write changes, and the keys it is about (none: all).
type resource struct {
	name string
	keys []string
}

// New indexes c; s gives the schema that counts, and is called when it is first
// asked for (nil: there is none).
func New(c *config.Config, s func() *schema.Schema) *Policy {
	p := &Policy{
		Config: c, schema: s, protected: map[string]*Protection{},
		writes: map[string]resource{}, fenced: map[string]string{},
		renew: names(c.Leases.Renew), release: names(c.Leases.Release), lost: names(c.Leases.Lost),
		checks: names(c.Leases.Checks), acquire: names(c.Leases.Acquire), callbacks: names(c.Leases.Callbacks),
		clocks: names(c.Leases.Clocks), expiries: names(c.Leases.Expiries),
	}
	p.tokens, p.columns = names(c.Tokens), map[string]bool{}
	for _, n := range c.Grants {
		p.tokens[n.Text] = true
	}
	for _, f := range c.FenceColumns {
		p.columns[f.Name.Text] = true
	}
	for _, t := range c.Tables {
		if t.Fence != "" {
			p.tokens[t.Name.Text+"."+t.Fence] = true
		}
	}
	for _, r := range c.Resources {
		var keys []string
		for _, k := range r.Keys {
			keys = append(keys, k.Text)
		}
		for _, n := range r.Writes {
			p.writes[n.Text] = resource{r.Name.Text, keys}
		}
		for _, n := range r.Fenced {
			p.fenced[n.Text] = r.Name.Text
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
	return p == nil || len(p.writes)+len(p.fenced)+len(p.checks)+len(p.acquire)+len(p.callbacks)+len(p.renew)+len(p.lost)+len(p.clocks)+len(p.expiries)+len(p.tokens)+len(p.columns) == 0
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

// Table returns the table of that name in the schema, or nil.
func (p *Policy) Table(name string) *schema.Table {
	if p == nil || p.schema == nil || name == "" {
		return nil
	}
	s := p.schema()
	if s == nil {
		return nil
	}
	return s.Table("", name)
}

// Declare returns a policy with what Go directives say added: a verb (check,
// write, lease) and the names it stands on.
func (p *Policy) Declare(ds []Declaration) *Policy {
	if len(ds) == 0 {
		return p
	}
	q := New(p.Config, p.schema)
	for _, d := range ds {
		switch d.Verb {
		case "check":
			q.checks[d.Name] = true
		case "lease":
			q.acquire[d.Name] = true
		case "write":
			name := d.Name
			if len(d.Args) > 0 {
				name = d.Args[0]
			}
			q.writes[d.Name] = resource{name: name}
		}
	}
	return q
}

// Declaration is a Go directive and the full name of what it stands on.
type Declaration struct {
	Verb string
	Name string
	Args []string
}

// Write returns the resource that a call of f with a key among texts changes, if
// f is declared. Texts that are not known count as any key.
func (p *Policy) Write(f *types.Func, texts []string) (string, bool) {
	if p == nil || len(p.writes) == 0 {
		return "", false
	}
	return p.WriteTo(FuncKey(f), texts)
}

// ByKey tells whether one of the names is a write of some keys only.
func (p *Policy) ByKey(names []string) bool {
	return p != nil && slices.ContainsFunc(names, func(n string) bool { return len(p.writes[n].keys) > 0 })
}

// WriteTo is Write for a function by its name as in go doc.
func (p *Policy) WriteTo(name string, texts []string) (string, bool) {
	if p == nil {
		return "", false
	}
	r, ok := p.writes[name]
	if !ok || len(r.keys) == 0 || len(texts) == 0 {
		return r.name, ok
	}
	for _, t := range texts {
		for _, k := range r.keys {
			known, _, open := strings.Cut(t, sqlstmt.Hole)
			if strings.HasPrefix(known, k) || open && known != "" && strings.HasPrefix(k, known) {
				return r.name, true
			}
		}
	}
	return "", false
}

// Names tells whether f is declared as a write of any key.
func (p *Policy) Names(f *types.Func) bool {
	_, ok := p.Write(f, nil)
	return ok
}

// Fenced tells whether f is declared to compare by itself.
func (p *Policy) Fenced(f *types.Func) bool { return p.FencedResource(f) != "" }

// FencedResource returns the resource that f is declared to write under a condition
// of its own, "" if it is not declared so.
func (p *Policy) FencedResource(f *types.Func) string {
	if p == nil {
		return ""
	}
	return p.fenced[FuncKey(f)]
}

// Lost tells whether f returns a channel or context that ends with ownership.
func (p *Policy) Lost(f *types.Func) bool { return p != nil && p.lost[FuncKey(f)] }

// Renew tells whether success of f says that this process still owns.
func (p *Policy) Renew(f *types.Func) bool { return p != nil && p.renew[FuncKey(f)] }

// Excludes tells whether fence.yaml leaves a file out.
func (p *Policy) Excludes(file string) bool {
	if p == nil || len(p.Config.Exclude) == 0 {
		return false
	}
	rel, err := filepath.Rel(p.Config.Dir(), file)
	return err == nil && p.Config.Excludes(filepath.ToSlash(rel))
}

// Check tells whether f is a declared ownership check.
func (p *Policy) Check(f *types.Func) bool { return p != nil && p.checks[FuncKey(f)] }

// Acquire tells whether f is declared to take ownership.
func (p *Policy) Acquire(f *types.Func) bool { return p != nil && p.acquire[FuncKey(f)] }

// Release tells whether f is declared to give ownership up.
func (p *Policy) Release(f *types.Func) bool { return p != nil && p.release[FuncKey(f)] }

// Clock tells whether f is declared to be a clock.
func (p *Policy) Clock(f *types.Func) bool { return p != nil && p.clocks[FuncKey(f)] }

// Callback tells whether f is declared to run its function arguments as owner.
func (p *Policy) Callback(f *types.Func) bool { return p != nil && p.callbacks[FuncKey(f)] }

// CheckValue tells whether v is a call of a function-typed field or package
// variable that is a declared check.
func (p *Policy) CheckValue(c *ssa.CallCommon) (string, bool) {
	if p == nil || len(p.checks) == 0 {
		return "", false
	}
	name, ok := p.FuncValue(c)
	if !ok || !p.checks[name] {
		return "", false
	}
	name = name[strings.LastIndexByte(name, '/')+1:]
	return name[strings.IndexByte(name, '.')+1:], true
}

// FuncValue names the field or package variable whose function a call calls, as in
// go doc.
func (p *Policy) FuncValue(c *ssa.CallCommon) (string, bool) {
	ld, ok := c.Value.(*ssa.UnOp)
	if !ok || c.IsInvoke() {
		return "", false
	}
	switch a := ld.X.(type) {
	case *ssa.FieldAddr:
		f, n := ir.FieldOf(a.X.Type(), a.Field), ir.NamedOf(a.X.Type())
		if f != nil && n != nil {
			return FieldKey(n, f), true
		}
	case *ssa.Global:
		if a.Pkg != nil {
			return a.Pkg.Pkg.Path() + "." + a.Name(), true
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
	if named(p.expiries, table, column) {
		return true
	}
	t := p.Table(table)
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

// named tells whether one of the names is table.column, with or without a schema
// in front; an empty table is any.
func named(names map[string]bool, table, column string) bool {
	for name := range names {
		if strings.Contains(name, "/") {
			continue // a Go name
		}
		i := strings.LastIndexByte(name, '.')
		if i < 0 {
			continue
		}
		t, c := name[strings.LastIndexByte(name[:i], '.')+1:i], name[i+1:]
		if strings.EqualFold(c, column) && (table == "" || strings.EqualFold(t, table)) {
			return true
		}
	}
	return false
}

// Token tells whether a column is declared to hold a token or the identity of a
// grant: under tokens, grants, tables or fence_columns, or by a directive in the
// schema.
func (p *Policy) Token(table, column string) bool {
	if p == nil {
		return false
	}
	if p.columns[column] || len(p.tokens) > 0 && named(p.tokens, table, column) {
		return true
	}
	t := p.Table(table)
	if t == nil {
		return false
	}
	c := t.Column(column)
	return c != nil && slices.ContainsFunc(c.Directives, func(d config.Directive) bool { return d.Verb == "token" })
}

// TokenField tells whether a struct field is declared to hold a token or the
// identity of a grant.
func (p *Policy) TokenField(n *types.Named, f *types.Var) bool {
	return p != nil && len(p.tokens) > 0 && p.tokens[FieldKey(n, f)]
}
