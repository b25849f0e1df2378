package driver

import (
	"go/token"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/packages"
	"honnef.co/go/tools/analysis/lint"

	"github.com/fencelint/fence/analyzers"
	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/internal/config"
	"github.com/fencelint/fence/internal/finding"
)

// collector turns what analyzers report into findings.
type collector struct {
	Options
	at      paths
	configs configs
	run     *results
	sources map[*packages.Package]*sources
}

func collect(o Options, l *loadedPackages, c configs, run *results) []finding.Finding {
	k := &collector{
		Options: o,
		at:      l.at,
		configs: c,
		run:     run,
		sources: make(map[*packages.Package]*sources),
	}
	var fs []finding.Finding
	for _, act := range run.checks {
		for _, d := range act.Diagnostics {
			if f, ok := k.finding(act.Package, act.Analyzer.Name, d); ok {
				fs = append(fs, f)
			}
		}
	}
	fs = append(fs, k.directives(l)...)
	fs = append(fs, k.unresolved(l)...)
	finding.Sort(fs)
	fs = finding.Compact(fs)
	finding.Number(fs)
	return fs
}

// finding makes a finding of a diagnostic, unless its place or its author
// silences it.
func (k *collector) finding(p *packages.Package, check string, d analysis.Diagnostic) (finding.Finding, bool) {
	severity, ok := k.severity(p, check)
	if !ok || k.run.directives[p].Silenced(check, d.Pos) {
		return finding.Finding{}, false
	}
	f, ok := k.start(p, d.Pos, d.End)
	if !ok {
		return finding.Finding{}, false
	}
	f.Code, f.Severity, f.Message = check, severity, d.Message
	f.Resource = d.Category // of the text a check can attach, the one that is not printed
	for _, r := range d.Related {
		related := finding.Related{Message: r.Message}
		related.Location, related.End = k.at.span(p.Fset, r.Pos, r.End)
		f.Related = append(f.Related, related)
	}
	return f, true
}

// start starts a finding with its place and what identifies it; there is none in
// a generated file.
func (k *collector) start(p *packages.Package, pos, end token.Pos) (finding.Finding, bool) {
	file := fileAt(p, pos)
	if file == nil || ir.IsGenerated(file) {
		return finding.Finding{}, false
	}
	s := k.sources[p]
	if s == nil {
		s = newSources(p.Fset)
		k.sources[p] = s
	}
	f := finding.Finding{Package: p.PkgPath}
	f.Location, f.End = k.at.span(p.Fset, pos, end)
	f.Function, f.Statement = s.around(file, pos)
	return f, true
}

// severity returns how bad a check's findings in p are; ok is false if it does
// not run there.
func (k *collector) severity(p *packages.Package, check string) (severity finding.Severity, ok bool) {
	level := k.configs.level(p, check)
	if s, ok := severities[level]; ok {
		return s, true
	}
	i := slices.IndexFunc(k.Checks.On, named(check))
	if i < 0 || level == config.Off {
		return "", false
	}
	return DefaultSeverity(k.Checks.On[i]), true
}

// DefaultSeverity returns how bad a check's findings are unless the configuration
// says otherwise.
func DefaultSeverity(c analyzers.Check) finding.Severity {
	if c.Doc.Severity == lint.SeverityWarning {
		return finding.Warning
	}
	return finding.Error
}
