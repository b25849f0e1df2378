package sqltext

// This file renders text/template of constant text. What an action prints is a hole; a
// template that branches or loops is not known.

import (
	"go/token"
	"text/template/parse"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/internal/sqlstmt"
)

const templatePath = "text/template"

// executed returns what call, a template's Execute or ExecuteTemplate, prints to the
// writer w.
func (e *eval) executed(call *ssa.Call, w ssa.Value, fr *frames, depth int) ([]string, bool) {
	obj := ir.Object(&call.Call)
	if obj == nil || obj.Pkg() == nil || obj.Pkg().Path() != templatePath || len(call.Call.Args) < 3 || call.Call.Args[1] != w {
		return nil, false
	}
	t := e.template(call.Call.Args[0], depth)
	if t == nil {
		return unknown, true
	}
	switch obj.Name() {
	case "Execute":
		return t.render(t.name), true
	case "ExecuteTemplate":
		var out []string
		for _, name := range e.value(call.Call.Args[2], fr, depth) {
			out = e.union(out, t.render(name))
		}
		return out, true
	}
	return nil, false
}

// templates are the templates of one text, by name.
type templates struct {
	name  string // of the text itself
	trees map[string]*parse.Tree
}

// template finds the text that a template was made of, or returns nil.
func (e *eval) template(v ssa.Value, depth int) *templates {
	if depth > maxDepth {
		return nil
	}
	switch v := v.(type) {
	case *ssa.Extract:
		if c, ok := v.Tuple.(*ssa.Call); ok && v.Index == 0 {
			return e.template(c, depth+1)
		}
	case *ssa.UnOp:
		if st := e.onlyStore(v); st != nil {
			return e.template(st.Val, depth+1)
		}
	case *ssa.Call:
		obj := ir.Object(&v.Call)
		if obj == nil || obj.Pkg() == nil || obj.Pkg().Path() != templatePath {
			return nil
		}
		switch obj.Name() {
		case "Must", "Funcs", "Option":
			return e.template(v.Call.Args[0], depth+1)
		case "Parse":
			return e.parsed(v, depth+1)
		}
	}
	return nil
}

// onlyStore returns the one assignment to the package variable or field that v loads.
func (e *eval) onlyStore(v *ssa.UnOp) *ssa.Store {
	if v.Op != token.MUL {
		return nil
	}
	switch a := v.X.(type) {
	case *ssa.Global:
		if ss := e.r.Pkg.GlobalStores(a); len(ss) == 1 {
			return ss[0]
		}
	case *ssa.FieldAddr:
		if ss := e.r.Pkg.Stores(ir.FieldOf(a.X.Type(), a.Field)); len(ss) == 1 {
			return ss[0].Store
		}
	}
	return nil
}

// parsed parses the text of template.New(name).Parse(text).
func (e *eval) parsed(c *ssa.Call, depth int) *templates {
	name, ok := e.templateName(c.Call.Args[0], depth)
	texts := e.value(c.Call.Args[1], nil, depth)
	if !ok || len(texts) != 1 || !Known(texts[0]) {
		return nil
	}
	t := &templates{name: name, trees: map[string]*parse.Tree{}}
	tree := parse.New(name)
	tree.Mode = parse.SkipFuncCheck
	if _, err := tree.Parse(texts[0], "", "", t.trees); err != nil {
		return nil
	}
	return t
}

// templateName returns the name that template.New gives, without delimiters of its own.
func (e *eval) templateName(v ssa.Value, depth int) (string, bool) {
	c, ok := v.(*ssa.Call)
	if !ok || depth > maxDepth {
		return "", false
	}
	obj := ir.Object(&c.Call)
	if obj == nil || obj.Pkg() == nil || obj.Pkg().Path() != templatePath {
		return "", false
	}
	switch obj.FullName() {
	case "text/template.New":
		names := e.value(c.Call.Args[0], nil, depth)
		if len(names) == 1 && Known(names[0]) {
			return names[0], true
		}
	case "(*text/template.Template).Funcs", "(*text/template.Template).Option":
		return e.templateName(c.Call.Args[0], depth+1)
	}
	return "", false
}

func (t *templates) render(name string) []string {
	tree := t.trees[name]
	if tree == nil || tree.Root == nil {
		return unknown
	}
	s, ok := t.list(tree.Root, 0)
	if !ok || len(s) > MaxLen {
		return unknown
	}
	return []string{s}
}

func (t *templates) list(l *parse.ListNode, depth int) (string, bool) {
	out := ""
	for _, n := range l.Nodes {
		s, ok := t.node(n, depth)
		if !ok || len(out)+len(s) > MaxLen {
			return "", false
		}
		out += s
	}
	return out, true
}

func (t *templates) node(n parse.Node, depth int) (string, bool) {
	switch n := n.(type) {
	case *parse.TextNode:
		return string(n.Text), true
	case *parse.CommentNode:
		return "", true
	case *parse.ActionNode:
		if len(n.Pipe.Decl) > 0 {
			return "", true
		}
		return sqlstmt.Hole, true
	case *parse.TemplateNode:
		if tree := t.trees[n.Name]; tree != nil && tree.Root != nil && depth < 8 {
			return t.list(tree.Root, depth+1)
		}
	}
	return "", false
}
