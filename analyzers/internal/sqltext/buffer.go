package sqltext

// This file reads what was written to a strings.Builder or bytes.Buffer.

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/origin"
)

// built reads a strings.Builder or bytes.Buffer that is a local variable, along
// every way from where it is made to where it is read. What a loop writes is a
// hole. One that is handed to somebody who may write to it is not known.
func (e *eval) built(c *ssa.Call, fr *frames, depth int) []string {
	root := origin.Root(e.r.Pkg, c.Call.Args[0])
	if root == nil || root.Referrers() == nil || root.Parent() != c.Parent() {
		return unknown
	}
	w := &written{e: e, root: root, writes: map[ssa.Instruction][]string{}, busy: map[*ssa.BasicBlock]bool{}}
	for _, in := range *root.Referrers() {
		switch in := in.(type) {
		case *ssa.Call:
			obj := ir.Object(&in.Call)
			if obj == nil || obj.Type().(*types.Signature).Recv() == nil || in.Call.Args[0] != root ||
				obj.Pkg().Path() != "strings" && obj.Pkg().Path() != "bytes" {
				return unknown
			}
			switch obj.Name() {
			case "WriteString":
				w.writes[in] = e.value(in.Call.Args[1], fr, depth)
			case "Write", "WriteByte", "WriteRune":
				w.writes[in] = unknown
			case "Reset":
				w.writes[in] = nil
			case "String", "Len", "Cap", "Grow":
			default:
				return unknown
			}
		case *ssa.MakeInterface:
			for _, use := range *in.Referrers() {
				call, ok := use.(*ssa.Call)
				if !ok {
					return unknown
				}
				if w.writes[call], ok = e.printed(call, in, fr, depth); !ok {
					return unknown
				}
			}
		case *ssa.DebugRef:
		default:
			return unknown
		}
	}
	return w.before(c.Block(), c)
}

// written follows what is written to one variable.
type written struct {
	e      *eval
	root   *ssa.Alloc
	writes map[ssa.Instruction][]string // nil: what was written is dropped
	busy   map[*ssa.BasicBlock]bool
}

// before returns the texts at instruction end of b (nil: at its end).
func (w *written) before(b *ssa.BasicBlock, end ssa.Instruction) []string {
	out := []string{""}
	if b != w.root.Block() {
		out = w.entry(b)
	}
	looped := w.loops(b)
	for _, in := range b.Instrs {
		if in == end {
			break
		}
		switch texts, ok := w.writes[in]; {
		case !ok:
		case texts == nil:
			out = []string{""}
		case looped: // the hole at the loop's start stands for it
		default:
			out = cross(out, texts)
		}
	}
	return out
}

func (w *written) entry(b *ssa.BasicBlock) []string {
	if w.busy[b] {
		return unknown
	}
	w.busy[b] = true
	defer delete(w.busy, b)
	writes := false
	for in := range w.writes {
		writes = writes || w.reaches(b, in.Block()) && w.reaches(in.Block(), b)
	}
	var out []string
	head := false
	for _, p := range b.Preds {
		if w.reaches(b, p) {
			continue
		}
		head = true
		out = w.e.union(out, w.before(p, nil))
	}
	switch {
	case head && writes:
		return cross(out, unknown)
	case head:
		return out
	}
	for _, p := range b.Preds {
		out = w.e.union(out, w.before(p, nil))
	}
	if out == nil {
		return unknown
	}
	return out
}

func (w *written) loops(b *ssa.BasicBlock) bool { return b != w.root.Block() && w.reaches(b, b) }

// reaches tells whether control can go from a to b without making the variable
// anew.
func (w *written) reaches(a, b *ssa.BasicBlock) bool {
	seen := map[*ssa.BasicBlock]bool{w.root.Block(): true}
	todo := slices.Clone(a.Succs)
	for len(todo) > 0 {
		x := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[x] {
			continue
		}
		if x == b {
			return true
		}
		seen[x] = true
		todo = append(todo, x.Succs...)
	}
	return false
}

// printed returns what call, one of fmt's or a template's, prints to the writer w.
func (e *eval) printed(call *ssa.Call, w ssa.Value, fr *frames, depth int) ([]string, bool) {
	if out, ok := e.executed(call, w, fr, depth); ok {
		return out, true
	}
	obj := ir.Object(&call.Call)
	if obj == nil || len(call.Call.Args) < 2 || call.Call.Args[0] != w {
		return nil, false
	}
	switch obj.FullName() {
	case "fmt.Fprintf":
		return e.format(call.Call.Args[1], call.Call.Args[2], fr, depth), true
	case "fmt.Fprint":
		return e.concat(call.Call.Args[1], fr, depth), true
	case "io.WriteString":
		return e.value(call.Call.Args[1], fr, depth), true
	}
	return nil, false
}
