package irtest

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"go/types"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/types/objectpath"
)

// Modular runs an analyzer over pkgs, made anew for each package, the way a
// driver does that starts a process for each: nothing but encoded facts, shown
// only to the analyzer that exported them, goes from package to package.
func Modular(tb testing.TB, make func() *analysis.Analyzer, pkgs []*packages.Package) []string {
	tb.Helper()
	facts := map[factKey][]byte{}
	var out []string
	for _, p := range pkgs {
		m := &modular{tb: tb, pkg: p, facts: facts, done: map[*analysis.Analyzer]any{}}
		m.run(make())
		out = append(out, m.out...)
	}
	slices.Sort(out)
	return out
}

type factKey struct {
	analyzer string
	obj      types.Object
	fact     reflect.Type
}

type modular struct {
	tb    testing.TB
	pkg   *packages.Package
	facts map[factKey][]byte
	done  map[*analysis.Analyzer]any
	out   []string
}

func (m *modular) run(a *analysis.Analyzer) any {
	if r, ok := m.done[a]; ok {
		return r
	}
	pass := &analysis.Pass{
		Analyzer: a, Fset: m.pkg.Fset, Files: m.pkg.Syntax, Pkg: m.pkg.Types, TypesInfo: m.pkg.TypesInfo, TypesSizes: m.pkg.TypesSizes,
		ResultOf: map[*analysis.Analyzer]any{}, Module: &analysis.Module{Path: m.pkg.Module.Path, Version: m.pkg.Module.Version},
		Report: func(d analysis.Diagnostic) {
			pos := m.pkg.Fset.Position(d.Pos)
			m.out = append(m.out, fmt.Sprintf("%s:%d: %s", filepath.Base(pos.Filename), pos.Line, d.Message))
		},
		ImportObjectFact: func(obj types.Object, fact analysis.Fact) bool {
			data, ok := m.facts[factKey{a.Name, obj, reflect.TypeOf(fact)}]
			if ok {
				if err := gob.NewDecoder(bytes.NewReader(data)).Decode(fact); err != nil {
					m.tb.Error(err)
				}
			}
			return ok
		},
		ExportObjectFact: func(obj types.Object, fact analysis.Fact) {
			if obj.Pkg() != m.pkg.Types {
				m.tb.Errorf("%s exports a fact about %s of another package", a.Name, obj)
			}
			if _, err := objectpath.For(obj); err != nil {
				return // out of reach for other packages
			}
			var b bytes.Buffer
			if err := gob.NewEncoder(&b).Encode(fact); err != nil {
				m.tb.Error(err)
			}
			m.facts[factKey{a.Name, obj, reflect.TypeOf(fact)}] = b.Bytes()
		},
		ImportPackageFact: func(*types.Package, analysis.Fact) bool { return false },
		ExportPackageFact: func(analysis.Fact) {},
	}
	for _, req := range a.Requires {
		pass.ResultOf[req] = m.run(req)
	}
	r, err := a.Run(pass)
	if err != nil {
		m.tb.Fatalf("%s: %v", a.Name, err)
	}
	m.done[a] = r
	return r
}
