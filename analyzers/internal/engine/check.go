package engine

import (
	"go/ast"
	"go/token"
	"sync/atomic"

	"golang.org/x/tools/go/analysis"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/suppress"
	"github.com/fencelint/fence/analyzers/internal/verdict"
)

// Page returns where a check is described.
func Page(check string) string {
	return "https://github.com/fencelint/fence/blob/main/docs/checks/" + check + ".md"
}

// judgement is what is to be said about a package, or why nothing can be.
type judgement struct {
	verdicts []verdict.Verdict
	err      error
	told     atomic.Bool
}

// failed returns the judgement that cannot be made because of err.
func failed(err error) *judgement { return &judgement{err: err} }

// failure returns why nothing can be said, to the first check that asks: the user
// wants to read it once for each package.
func (j *judgement) failure() error {
	if j.err == nil || j.told.Swap(true) {
		return nil
	}
	return j.err
}

// Printer returns an analyzer that prints the verdicts named after it, but for
// those in a file that nobody edits and those that //lint:ignore silences.
//
// It requires Config, although it does not ask it, because nogo hands flags to
// what a check requires itself and no further.
func (e *Env) Printer(name, doc string) *analysis.Analyzer {
	return &analysis.Analyzer{
		Name: name, Doc: doc, URL: Page(name),
		Requires: []*analysis.Analyzer{e.Config, e.Verdicts, suppress.Analyzer},
		Run: func(pass *analysis.Pass) (any, error) {
			ignored := pass.ResultOf[suppress.Analyzer].(*suppress.Index)
			j := pass.ResultOf[e.Verdicts].(*judgement)
			if err := j.failure(); err != nil {
				return nil, err
			}
			for _, v := range j.verdicts {
				if v.Check != name || isGenerated(pass.Files, v.Pos) || ignored.Silenced(name, v.Pos) {
					continue
				}
				d := analysis.Diagnostic{Pos: v.Pos, End: v.End, Category: v.Resource, URL: Page(name),
					Message: v.Message + " [" + name + " " + Page(name) + "]"}
				if !e.Options.NoRelated {
					d.Related = related(v)
				}
				pass.Report(d)
			}
			return nil, nil
		},
	}
}

func related(v verdict.Verdict) []analysis.RelatedInformation {
	var out []analysis.RelatedInformation
	for _, r := range v.Related {
		out = append(out, analysis.RelatedInformation{Pos: r.Pos, Message: r.Message})
	}
	return out
}

// isGenerated tells whether pos lies in a file that nobody edits.
func isGenerated(files []*ast.File, pos token.Pos) bool {
	for _, f := range files {
		if f.FileStart <= pos && pos <= f.FileEnd {
			return ir.IsGenerated(f)
		}
	}
	return false
}
