package driver

import (
	"cmp"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
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

var placedLine = regexp.MustCompile(`^(\S+?:\d+(?::\d+)?): (.*)$`)

// cutPlace splits a line of compiler output after its position.
func cutPlace(line string) (pos, msg string, ok bool) {
	m := placedLine.FindStringSubmatch(line)
	if m == nil {
		return "", "", false
	}
	return m[1], m[2], true
}
