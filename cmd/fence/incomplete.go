package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/fencelint/fence/analyzers/driver"
)

// mostErrors is how many errors of a package are shown: the first ones explain
// the others, and go build shows all.
const mostErrors = 3

// printIncomplete says what a run could not check, and why.
func printIncomplete(w io.Writer, r *driver.Result) {
	path := fromHere(r.Root)
	for _, b := range r.Broken {
		fmt.Fprintf(w, "fence: %s does not compile:\n", b.Package)
		for i, e := range b.Errors {
			if i == mostErrors {
				fmt.Fprintf(w, "\tand %s: go build %s\n", count(len(b.Errors)-i, "more error"), b.Package)
				break
			}
			fmt.Fprintf(w, "\t%s%s\n", at(path, e), indent(e.Message))
		}
	}
	for _, n := range r.NotChecked {
		fmt.Fprintf(w, "fence: %s: not checked: %s does not compile\n", n.Package, n.Import)
	}
	for _, f := range r.Failures {
		fmt.Fprintf(w, "fence: %s: %s failed: %s\n", f.Package, f.Check, indent(f.Err.Error()))
		fmt.Fprintf(w, "\tall other findings are printed; please report this at https://github.com/fencelint/fence/issues\n")
	}
}

// at is an error's place in front of its message, as far as it is known.
func at(path func(string) string, e driver.CompileError) string {
	switch p := e.Place; {
	case p.File == "":
		return ""
	case p.Line == 0:
		return path(p.File) + ": "
	case p.Column == 0:
		return fmt.Sprintf("%s:%d: ", path(p.File), p.Line)
	default:
		return fmt.Sprintf("%s:%d:%d: ", path(p.File), p.Line, p.Column)
	}
}

// indent makes the lines of a message stand below its first.
func indent(message string) string { return strings.ReplaceAll(message, "\n", "\n\t") }

// fromHere returns a function that turns a file name relative to root into one
// that can be opened from the current directory.
func fromHere(root string) func(file string) string {
	here, err := filepath.Abs(".")
	return func(file string) string {
		full := filepath.FromSlash(file)
		if !filepath.IsAbs(full) {
			full = filepath.Join(root, full)
		}
		rel, relErr := filepath.Rel(here, full)
		if err != nil || relErr != nil || len(rel) > len(full) {
			return full
		}
		return rel
	}
}
