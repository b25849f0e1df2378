package driver

import (
	"fmt"
	"go/token"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/fencelint/fence/analyzers"
	"github.com/fencelint/fence/analyzers/internal/suppress"
	"github.com/fencelint/fence/internal/config"
	"github.com/fencelint/fence/internal/finding"
)

// DirectiveCode is the code of findings about directives themselves.
const DirectiveCode = "lint"

// directives returns what is wrong with directives in Go: //fence: comments that
// say nothing known, //lint:ignore comments that cannot be honoured, and those
// that silence nothing.
func (k *collector) directives(l *loadedPackages) []finding.Finding {
	var fs []finding.Finding
	report := func(p *packages.Package, pos, end token.Pos, severity finding.Severity, msg string) {
		if f, ok := k.start(p, pos, end); ok {
			f.Code, f.Severity, f.Message = DirectiveCode, severity, msg
			fs = append(fs, f)
		}
	}
	known := func(check string) bool {
		_, ok := analyzers.Lookup(check)
		return ok || slices.ContainsFunc(k.Checks.all(), named(check)) || slices.Contains(config.CheckNames(), check)
	}
	// With a package or an analyzer missing, less is known, and less is found.
	complete := len(l.broken) == 0 && len(k.run.failures) == 0
	needed := k.needed(l.sound)
	for _, p := range l.sound {
		for _, f := range p.Syntax {
			for _, g := range f.Comments {
				for _, c := range g.List {
					if _, _, err := config.ParseGo(c.Text, config.Pos{}); err != nil {
						report(p, c.Pos(), c.End(), finding.Error, strings.TrimPrefix(err.Error(), config.Pos{}.String()+": "))
					}
				}
			}
		}
		index := k.run.directives[p]
		for _, problem := range index.Problems(known) {
			report(p, problem.Pos, problem.End, finding.Error, problem.Message)
		}
		for _, u := range index.Uses() {
			if complete && k.ran(u.Check, p) && !needed[k.use(p, u)] {
				// A warning: a fence that has become more precise must not break
				// the build.
				report(p, u.Pos, u.End, finding.Warning,
					fmt.Sprintf("this directive silences nothing: %s reports nothing here: delete it", u.Check))
			}
		}
	}
	return fs
}

// use is a check in a directive, in whatever variant of its package.
type use struct {
	at    finding.Place
	check string
}

func (k *collector) use(p *packages.Package, u suppress.Use) use {
	return use{k.at.place(p.Fset, u.Pos), u.Check}
}

// needed returns the uses that silence something. The files of a package are
// also part of its test variant, where more may be known about them.
func (k *collector) needed(pkgs []*packages.Package) map[use]bool {
	needed := make(map[use]bool)
	for _, p := range pkgs {
		for _, u := range k.run.directives[p].Uses() {
			if u.Silenced {
				needed[k.use(p, u)] = true
			}
		}
	}
	return needed
}

// ran reports whether check would have reported something in p.
func (k *collector) ran(check string, p *packages.Package) bool {
	_, on := k.severity(p, check)
	return on && slices.ContainsFunc(k.Checks.all(), named(check)) && !k.run.failed[failed{check, p}]
}
