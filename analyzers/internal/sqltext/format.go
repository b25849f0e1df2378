package sqltext

// This file renders what fmt and strings make of texts.

import (
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/origin"
)

// variadic returns the values behind a variadic argument and where they are read:
// a list may be handed on as it came in.
func (e *eval) variadic(list ssa.Value, fr *frames) ([]ssa.Value, *frames, bool) {
	for list != nil && fr != nil {
		p, ok := list.(*ssa.Parameter)
		if !ok || fr.fn != ir.Origin(p.Parent()) {
			break
		}
		list, fr = origin.Arg(fr.call.Common(), slices.Index(p.Parent().Params, p)), fr.up
	}
	vals, ok := origin.Variadic(list)
	return vals, fr, ok
}

func (e *eval) sprint(c *ssa.Call, fr *frames, depth int) []string {
	return e.concat(c.Call.Args[0], fr, depth)
}

func (e *eval) concat(list ssa.Value, fr *frames, depth int) []string {
	args, fr, ok := e.variadic(list, fr)
	if !ok {
		return unknown
	}
	out := []string{""}
	for _, a := range args {
		out = cross(out, e.value(a, fr, depth))
	}
	return out
}

// sprintf expands verbs; explicit indices (%[1]s) too. A verb whose argument is
// not text becomes a hole, and so does one behind a hole of the format, which may
// have verbs of its own.
func (e *eval) sprintf(c *ssa.Call, fr *frames, depth int) []string {
	return e.format(c.Call.Args[0], c.Call.Args[1], fr, depth)
}

func (e *eval) format(format, list ssa.Value, fr *frames, depth int) []string {
	formats := e.value(format, fr, depth)
	args, fr, ok := e.variadic(list, fr)
	var out []string
	for _, f := range formats {
		parts := []string{""}
		next, holed := 0, false
		for f != "" {
			i := strings.IndexByte(f, '%')
			if i < 0 {
				parts = cross(parts, []string{f})
				break
			}
			parts = cross(parts, []string{f[:i]})
			holed = holed || !Known(f[:i])
			verb, idx, rest := scanVerb(f[i:])
			if strings.Contains(f[i:len(f)-len(rest)], "*") {
				parts = cross(parts, unknown) // a width among the arguments
				break
			}
			f = rest
			if verb == '%' {
				parts = cross(parts, []string{"%"})
				continue
			}
			if idx > 0 {
				next = idx - 1
			}
			arg := unknown
			if ok && next < len(args) && !holed {
				arg = e.value(args[next], fr, depth)
			}
			next++
			if verb == 'q' {
				q := make([]string, len(arg))
				for k, s := range arg {
					q[k] = `"` + s + `"`
				}
				arg = q
			}
			parts = cross(parts, arg)
		}
		out = e.union(out, parts)
	}
	return out
}

// scanVerb reads one verb at the start of f: its letter, its explicit argument
// number (0: none) and what follows it.
func scanVerb(f string) (verb byte, index int, rest string) {
	i := 1
	for i < len(f) {
		switch b := f[i]; {
		case b == '[':
			n := 0
			for i++; i < len(f) && f[i] != ']'; i++ {
				if f[i] >= '0' && f[i] <= '9' {
					n = n*10 + int(f[i]-'0')
				}
			}
			index = n
			i++
		case strings.IndexByte("+-# 0123456789.*", b) >= 0:
			i++
		default:
			return b, index, f[i+1:]
		}
	}
	return '%', 0, ""
}

func (e *eval) join(c *ssa.Call, fr *frames, depth int) []string {
	sep := e.value(c.Call.Args[1], fr, depth)
	list, fr, ok := e.variadic(c.Call.Args[0], fr)
	if !ok || len(list) == 0 {
		return unknown
	}
	var out []string
	for i, v := range list {
		if i == 0 {
			out = e.value(v, fr, depth)
			continue
		}
		out = cross(cross(out, sep), e.value(v, fr, depth))
	}
	return out
}

// joinPath joins the elements of a path; what path.Clean would change is left as it is.
func (e *eval) joinPath(c *ssa.Call, fr *frames, depth int) []string {
	list, ok := origin.Variadic(c.Call.Args[0])
	if !ok {
		return unknown
	}
	var out []string
	for i, v := range list {
		if i == 0 {
			out = e.value(v, fr, depth)
			continue
		}
		out = cross(cross(out, []string{"/"}), e.value(v, fr, depth))
	}
	return out
}

func (e *eval) replace(c *ssa.Call, fr *frames, depth int) []string {
	in := e.value(c.Call.Args[0], fr, depth)
	from := e.value(c.Call.Args[1], fr, depth)
	to := e.value(c.Call.Args[2], fr, depth)
	if len(from) != 1 || !Known(from[0]) || from[0] == "" {
		return unknown
	}
	var out []string
	for _, s := range in {
		for _, t := range to {
			out = e.union(out, []string{strings.ReplaceAll(s, from[0], t)})
		}
	}
	return out
}
