package sqltext

// This file renders text/template of constant text. What an action prints is a hole,
// unless it prints a field of what the template is given; a template that branches or
// loops is not known.

import (
	"go/token"
	"go/types"
	"text/template/parse"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
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
	t.field = func(name string) []string { return e.given(call.Call.Args[len(call.Call.Args)-1], name, depth) }
	switch obj.Name() {
	case "Execute":
		return e.rendering(t, t.name), true
	case "ExecuteTemplate":
		var out []string
		for _, name := range e.value(call.Call.Args[2], fr, depth) {
			out = e.union(out, e.rendering(t, name))
		}
		return out, true
	}
	return nil, false
}

// given returns the texts of a field of a template's data: of a struct, or of a map
// made in place.
func (e *eval) given(data ssa.Value, name string, depth int) []string {
	if mi, ok := data.(*ssa.MakeInterface); ok {
		data = mi.X
	}
	t := data.Type().Underlying()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem().Underlying()
	}
	switch t := t.(type) {
	case *types.Struct:
		for i := range t.NumFields() {
			if t.Field(i).Name() == name {
				return e.field(t.Field(i), depth)
			}
		}
	case *types.Map:
		if maps, ok := e.maps(data); ok {
			return e.entries(maps, []string{name}, depth)
		}
	}
	return unknown
}

// templates are the templates of one text, by name.
type templates struct {
	name  string // of the text itself
	trees map[string]*parse.Tree
	field func(name string) []string // the texts of a field of the data
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

func (e *eval) rendering(t *templates, name string) []string {
	tree := t.trees[name]
	if tree == nil || tree.Root == nil {
		return unknown
	}
	out, ok := e.nodes(t, tree.Root, 0)
	if !ok {
		return unknown
	}
	return out
}

func (e *eval) nodes(t *templates, l *parse.ListNode, depth int) ([]string, bool) {
	out := []string{""}
	for _, n := range l.Nodes {
		s, ok := e.node(t, n, depth)
		if !ok {
			return nil, false
		}
		out = cross(out, s)
	}
	return out, true
}

func (e *eval) node(t *templates, n parse.Node, depth int) ([]string, bool) {
	switch n := n.(type) {
	case *parse.TextNode:
		return []string{string(n.Text)}, true
	case *parse.CommentNode:
		return []string{""}, true
	case *parse.ActionNode:
		if len(n.Pipe.Decl) > 0 {
			return []string{""}, true
		}
		if len(n.Pipe.Cmds) == 1 && len(n.Pipe.Cmds[0].Args) == 1 && depth == 0 {
			if f, ok := n.Pipe.Cmds[0].Args[0].(*parse.FieldNode); ok && len(f.Ident) == 1 {
				return t.field(f.Ident[0]), true
			}
		}
		return unknown, true
	case *parse.TemplateNode:
		if tree := t.trees[n.Name]; tree != nil && tree.Root != nil && depth < 8 {
			return e.nodes(t, tree.Root, depth+1)
		}
	}
	return nil, false
}
