package driver

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/fencelint/fence/internal/finding"
)

// compileErrors says why p does not compile, each reason once.
func compileErrors(p *packages.Package, at paths) []CompileError {
	var errs []CompileError
	add := func(pos, msg string) {
		errs = append(errs, CompileError{at.parse(pos), strings.TrimSpace(msg)})
	}
	for _, e := range p.Errors {
		switch missing := missingImport(p, e); {
		case missing != nil:
			add(e.Pos, goText(missing.Msg))
		case strings.HasPrefix(e.Msg, "could not import C ("):
			add(e.Pos, "cgo fails: go build "+p.PkgPath+" says why") // go list keeps it to itself
		case strings.HasPrefix(e.Msg, "# "):
			// What the compiler printed; handled below.
		case strings.Contains(e.Msg, "of the source-processing packages"):
			add("", newerGo(e.Msg))
		default:
			add(e.Pos, e.Msg)
		}
	}
	if len(errs) == 0 {
		// The type checker accepts it, so the compiler's own words are all there
		// is: C code, assembly, a function body of a package not named.
		for _, e := range p.Errors {
			_, output, _ := strings.Cut(e.Msg, "\n")
			for line := range strings.Lines(output) {
				if pos, msg, ok := cutPlace(strings.TrimRight(line, "\n")); ok {
					add(pos, msg)
				} else {
					add("", line)
				}
			}
		}
	}
	if len(errs) == 0 {
		add("", "go build "+p.PkgPath+" says why")
	}
	slices.SortStableFunc(errs, func(a, b CompileError) int {
		return cmp.Or(cmp.Compare(a.Place.File, b.Place.File), cmp.Compare(a.Place.Line, b.Place.Line), cmp.Compare(a.Place.Column, b.Place.Column))
	})
	return slices.Compact(errs)
}

var couldNotImport = regexp.MustCompile(`^could not import (\S+) \(`)

// missingImport returns what the go command says about an import that does not
// exist, if that is what e complains about. The type checker only knows that
// the package has no name.
func missingImport(p *packages.Package, e packages.Error) *packages.Error {
	m := couldNotImport.FindStringSubmatch(e.Msg)
	if m == nil {
		return nil
	}
	imp := p.Imports[m[1]]
	if imp == nil || exists(imp) || len(imp.Errors) == 0 {
		return nil
	}
	return &imp.Errors[0]
}

var goListVersion = regexp.MustCompile(`runs version (go[0-9.]+) of 'go list'`)

// newerGo rewords what go/packages says about itself: users know fence, not its
// source-processing packages.
func newerGo(msg string) string {
	theirs := "a newer Go"
	if m := goListVersion.FindStringSubmatch(msg); m != nil {
		theirs = m[1]
	}
	return fmt.Sprintf("fence was built with %s and may not read %s: build it again with that Go: go install github.com/fencelint/fence/cmd/fence@latest",
		runtime.Version(), theirs)
}

// paths turns the file names of one run into those users see.
type paths struct {
	root string // findings' files count from here
	dir  string // the go command ran here
}

// rel returns file relative to the root, with slashes. A file outside the root
// keeps a relative name only if it is in the same tree of modules.
func (p paths) rel(file string) string {
	if file == "" {
		return ""
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(p.dir, file)
	}
	if rel, err := filepath.Rel(p.root, file); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(file)
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

// cutPlace splits a line of compiler output after its position.
func cutPlace(line string) (pos, msg string, ok bool) {
	m := regexp.MustCompile(`^(\S+?:\d+(?::\d+)?): (.*)$`).FindStringSubmatch(line)
	if m == nil {
		return "", "", false
	}
	return m[1], m[2], true
}
