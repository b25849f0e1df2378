package driver

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"golang.org/x/tools/go/packages"

	"github.com/fencelint/fence/internal/finding"
)

// paths turns the file names of one run into those users see.
type paths struct {
	root     string   // findings' files count from here
	dir      string   // the go command ran here
	modules  []string // directories of the main modules
	modCache string   // directory of the modules that were downloaded
}

// rel returns file relative to the root, with slashes. A file that is neither
// below the root nor in a main module (of a workspace with use ../other) keeps
// its full name: it is in the module cache or in Go itself.
func (p paths) rel(file string) string {
	if file == "" {
		return ""
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(p.dir, file)
	}
	inTree := slices.ContainsFunc(p.modules, func(module string) bool { return within(module, file) })
	if rel, err := filepath.Rel(p.root, file); err == nil && (filepath.IsLocal(rel) || inTree) {
		file = rel
	}
	return filepath.ToSlash(file)
}

// within reports whether file is below dir.
func within(dir, file string) bool {
	rel, err := filepath.Rel(dir, file)
	return err == nil && filepath.IsLocal(rel)
}

// parse reads "file:line:column", "file:line", "file" or "-".
func (p paths) parse(pos string) finding.Place {
	if pos == "" || pos == "-" {
		return finding.Place{}
	}
	m := placePattern.FindStringSubmatch(pos)
	if m == nil {
		return finding.Place{File: p.rel(pos)}
	}
	place := finding.Place{File: p.rel(m[1])}
	place.Line, _ = strconv.Atoi(m[2]) // the pattern only matches digits
	place.Column, _ = strconv.Atoi(m[3])
	return place
}

var placePattern = regexp.MustCompile(`^(.+?):(\d+)(?::(\d+))?$`)

// place returns where users see pos. Line directives are followed to Go files
// only: to the source of what cgo made, never to a grammar or template, whose
// reader could not recognise the statement.
func (p paths) place(fset *token.FileSet, pos token.Pos) finding.Place {
	at := fset.PositionFor(pos, true)
	if filepath.Ext(at.Filename) != ".go" {
		at = fset.PositionFor(pos, false)
	}
	return finding.Place{File: p.rel(at.Filename), Line: at.Line, Column: at.Column}
}

// span is place for a range; the end may be unknown.
func (p paths) span(fset *token.FileSet, pos, end token.Pos) (from, to finding.Place) {
	from = p.place(fset, pos)
	if !end.IsValid() {
		return from, from
	}
	return from, p.place(fset, end)
}

// fileAt returns the file of p that pos lies in.
func fileAt(p *packages.Package, pos token.Pos) *ast.File {
	for _, f := range p.Syntax {
		if f.FileStart <= pos && pos <= f.FileEnd {
			return f
		}
	}
	return nil
}
