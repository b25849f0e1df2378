package irtest

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

// Analyze runs one analyzer over pkgs, with facts that go through their encoding.
func Analyze(tb testing.TB, a *analysis.Analyzer, pkgs []*packages.Package) *checker.Graph {
	tb.Helper()
	g, err := checker.Analyze([]*analysis.Analyzer{a}, pkgs, &checker.Options{Sequential: true, SanityCheck: true})
	if err != nil {
		tb.Fatal(err)
	}
	for act := range g.All() {
		if act.Err != nil {
			tb.Fatalf("%v: %v", act, act.Err)
		}
	}
	return g
}

// Findings returns what the analyzer reported, as "file:line: message", sorted.
func Findings(g *checker.Graph) []string {
	var out []string
	for _, act := range g.Roots {
		for _, d := range act.Diagnostics {
			p := act.Package.Fset.Position(d.Pos)
			out = append(out, fmt.Sprintf("%s:%d: %s", filepath.Base(p.Filename), p.Line, d.Message))
		}
	}
	slices.Sort(out)
	return out
}

var wantComment = regexp.MustCompile("// want (`[^`]*`|\"(?:[^\"\\\\]|\\\\.)*\")")

// Check compares findings with the comments "// want `regexp`" of pkgs.
func Check(tb testing.TB, g *checker.Graph, pkgs []*packages.Package) {
	tb.Helper()
	type want struct {
		re  *regexp.Regexp
		met bool
	}
	wants := map[string]*want{}
	for _, p := range pkgs {
		for _, f := range p.Syntax {
			for _, group := range f.Comments {
				for _, c := range group.List {
					m := wantComment.FindStringSubmatch(c.Text)
					if m == nil {
						continue
					}
					text, err := strconv.Unquote(m[1])
					if err != nil {
						tb.Fatal(err)
					}
					pos := p.Fset.Position(c.Pos())
					wants[fmt.Sprintf("%s:%d", filepath.Base(pos.Filename), pos.Line)] = &want{re: regexp.MustCompile(text)}
				}
			}
		}
	}
	for _, f := range Findings(g) {
		place, msg, _ := strings.Cut(f, ": ")
		w := wants[place]
		switch {
		case w == nil:
			tb.Errorf("%s: unexpected: %s", place, msg)
		case !w.re.MatchString(msg):
			tb.Errorf("%s: %q does not match %q", place, msg, w.re)
			fallthrough
		default:
			w.met = true
		}
	}
	for place, w := range wants {
		if !w.met {
			tb.Errorf("%s: nothing reported, want %q", place, w.re)
		}
	}
}
