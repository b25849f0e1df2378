package resource

import (
	"fmt"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fencelint/fence/internal/config"
	"github.com/fencelint/fence/internal/schema"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// Protection says how one table is protected.
type Protection struct {
	Table  string
	Fences []Fence // a compare of any of them fences a write
	// Guard is a table whose row a transaction may lock instead; Locked says that
	// any row lock or transaction-scoped lock held to the commit will do.
	Guard     string
	Locked    bool
	Open      []string // columns anybody may set
	Sibling   bool     // nobody declared it: another statement treats the column as a fence
	Elsewhere bool     // that statement is in another package
	Enforced  bool     // fence.yaml says that a trigger compares
	Key       []string // its primary key, where the schema is known
	Triggers  []schema.Trigger
	// Declared is where the protection is said, for a person: "schema.sql:5".
	Declared string
}

// Fence is a column that is compared with the token.
type Fence struct {
	Column string
	Rule   config.Rule
}

// Monotonic tells whether one of the fences only grows.
func (pr *Protection) Monotonic() bool {
	return slices.ContainsFunc(pr.Fences, func(f Fence) bool { return f.Rule == config.Monotonic })
}

// HasFence tells whether a column, in any case, is one of the fences.
func (pr *Protection) HasFence(column string) bool {
	return slices.ContainsFunc(pr.Fences, func(f Fence) bool { return strings.EqualFold(f.Column, column) })
}

// IsOpen tells whether anybody may set a column.
func (pr *Protection) IsOpen(column string) bool {
	return slices.ContainsFunc(pr.Open, func(c string) bool { return strings.EqualFold(c, column) })
}

// Protection returns how a table is protected, or nil. A schema that is not known,
// or known only at run time, matches any.
func (p *Policy) Protection(t sqlstmt.Table) *Protection {
	if p == nil {
		return nil
	}
	t.Name = p.withoutPrefix(t.Name)
	if t.Name == "" || t.Temp || strings.Contains(t.Name, sqlstmt.Hole) {
		return nil
	}
	if strings.Contains(t.Schema, sqlstmt.Hole) {
		t.Schema = ""
	}
	key := strings.ToLower(t.Schema + "." + t.Name)
	p.mu.Lock()
	defer p.mu.Unlock()
	pr, ok := p.protected[key]
	if !ok {
		pr = p.protection(t)
		p.protected[key] = pr
	}
	return pr
}

// withoutPrefix takes a prefix that is known only at run time from a table's name, if
// fence.yaml names the rest: "…jobs" is jobs there, with what the program puts before
// all its tables.
func (p *Policy) withoutPrefix(name string) string {
	rest, ok := strings.CutPrefix(name, sqlstmt.Hole)
	if ok && slices.ContainsFunc(p.Config.Tables, func(c config.Table) bool { return strings.EqualFold(c.Name.Text, rest) }) {
		return rest
	}
	return name
}

func (p *Policy) protection(t sqlstmt.Table) *Protection {
	pr := &Protection{Table: t.Name}
	for _, c := range p.Config.Tables {
		if !schema.Named(c.Name.Text, t.Schema, t.Name) {
			continue
		}
		pr.fence(c.Fence, c.Rule)
		pr.guard(c.Guard)
		for _, o := range c.Open {
			pr.Open = append(pr.Open, o.Text)
		}
		pr.Enforced = pr.Enforced || c.Enforced != ""
		if c.Fence != "" || c.Guard != "" || c.Protect {
			pr.said(c.Name.Pos)
		}
	}
	if s := p.table(t); s != nil {
		pr.Triggers, pr.Key = s.Triggers, s.PrimaryKey
		for _, d := range s.Directives {
			if d.Verb == "protect" {
				pr.guard(d.Options["guard"])
				pr.said(d.Pos)
			}
		}
		for _, c := range s.Columns {
			for _, d := range c.Directives {
				if d.Verb == "token" {
					pr.fence(c.Name, config.Rule(d.Options["rule"]))
					pr.said(d.Pos)
				}
			}
			if rule, ok := p.fenceColumn(c.Name); ok && !pr.HasFence(c.Name) {
				pr.fence(c.Name, rule)
				pr.said(c.Pos)
			}
		}
	}
	if pr.Declared == "" {
		return nil
	}
	return pr
}

func (pr *Protection) fence(column string, rule config.Rule) {
	if column == "" || pr.HasFence(column) {
		return
	}
	if rule == "" {
		rule = config.Monotonic
	}
	pr.Fences = append(pr.Fences, Fence{column, rule})
}

func (pr *Protection) guard(name string) {
	switch name {
	case "":
	case config.Transaction:
		pr.Locked = true
	default:
		pr.Guard = name
	}
}

func (pr *Protection) said(pos config.Pos) {
	if pr.Declared == "" {
		pr.Declared = fmt.Sprintf("%s:%d", filepath.Base(pos.File), pos.Line)
	}
}

// fenceColumn tells whether a column of that name protects every table it is in.
func (p *Policy) fenceColumn(name string) (config.Rule, bool) {
	for _, f := range p.Config.FenceColumns {
		if strings.EqualFold(f.Name.Text, name) {
			return f.Rule, true
		}
	}
	if slices.ContainsFunc(config.UsualFences(), func(c string) bool { return strings.EqualFold(c, name) }) {
		return config.Monotonic, true
	}
	return "", false
}

// table returns the table that a statement means, or nil.
func (p *Policy) table(t sqlstmt.Table) *schema.Table {
	if p.schema == nil {
		return nil
	}
	s := p.schema()
	if s == nil {
		return nil
	}
	return s.Table(t.Schema, t.Name)
}

// Guard returns the description of a guard table, or nil.
func (p *Policy) Guard(name string) *config.Guard {
	i := slices.IndexFunc(p.Config.Guards, func(g config.Guard) bool { return strings.EqualFold(g.Table.Text, name) })
	if i < 0 {
		return nil
	}
	return &p.Config.Guards[i]
}

// Writer tells whether code of a package acts as owner: all do unless fence.yaml
// lists those that do.
func (p *Policy) Writer(pkg *types.Package) bool {
	return p == nil || len(p.Config.Writers) == 0 || slices.ContainsFunc(p.Config.Writers, func(n config.Name) bool {
		return n.MatchesPackage(pkg.Path())
	})
}
