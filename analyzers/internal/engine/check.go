package engine

import (
	"golang.org/x/tools/go/analysis"

	"github.com/fencelint/fence/analyzers/internal/suppress"
	"github.com/fencelint/fence/analyzers/internal/verdict"
)

// Page returns where a check is described.
func Page(check string) string {
	return "https://github.com/fencelint/fence/blob/main/docs/checks/" + check + ".md"
}

// Printer returns an analyzer that prints the verdicts named after it, but for
// those that //lint:ignore silences.
func (e *Env) Printer(name, doc string) *analysis.Analyzer {
	return &analysis.Analyzer{
		Name: name, Doc: doc, URL: Page(name),
		Requires: []*analysis.Analyzer{e.Verdicts, suppress.Analyzer},
		Run: func(pass *analysis.Pass) (any, error) {
			ignored := pass.ResultOf[suppress.Analyzer].(*suppress.Index)
			for _, v := range pass.ResultOf[e.Verdicts].(*verdict.Result).Verdicts {
				if v.Check != name || ignored.Silenced(name, v.Pos) {
					continue
				}
				d := analysis.Diagnostic{Pos: v.Pos, End: v.End, Category: v.Resource, URL: Page(name),
					Message: v.Message + " [" + name + " " + Page(name) + "]"}
				for _, r := range v.Related {
					d.Related = append(d.Related, analysis.RelatedInformation{Pos: r.Pos, Message: r.Message})
				}
				pass.Report(d)
			}
			return nil, nil
		},
	}
}
