package driver

import (
	"fmt"
	"runtime/debug"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
)

// guard makes copies of analyzers that return an error where the original
// panics. One package that trips a check must not cost users all other
// findings.
//
// The originals are left alone, because some are shared by the whole process
// (inspect.Analyzer), and because a pass asks for results by the original:
// pass.ResultOf[inspect.Analyzer]. A copy therefore runs with a pass that
// speaks of originals only.
type guard struct {
	copies    map[*analysis.Analyzer]*analysis.Analyzer
	originals map[*analysis.Analyzer]*analysis.Analyzer
}

func newGuard() *guard {
	return &guard{
		copies:    make(map[*analysis.Analyzer]*analysis.Analyzer),
		originals: make(map[*analysis.Analyzer]*analysis.Analyzer),
	}
}

// wrap returns the guarded copy of a, the same one each time.
func (g *guard) wrap(a *analysis.Analyzer) *analysis.Analyzer {
	if c, ok := g.copies[a]; ok {
		return c
	}
	c := *a
	c.Requires = make([]*analysis.Analyzer, len(a.Requires))
	for i, r := range a.Requires {
		c.Requires[i] = g.wrap(r)
	}
	c.Run = func(pass *analysis.Pass) (result any, err error) {
		p := *pass
		p.Analyzer = a
		p.ResultOf = make(map[*analysis.Analyzer]any, len(pass.ResultOf))
		for copied, r := range pass.ResultOf {
			p.ResultOf[g.originals[copied]] = r
		}
		defer func() {
			if cause := recover(); cause != nil {
				err = fmt.Errorf("panic: %v\n%s", cause, panicStack())
			}
		}()
		return a.Run(&p)
	}
	g.copies[a], g.originals[&c] = &c, a
	return &c
}

// restore makes the actions of a graph name the originals again.
func (g *guard) restore(graph *checker.Graph) {
	for act := range graph.All() {
		if a, ok := g.originals[act.Analyzer]; ok {
			act.Analyzer = a
		}
	}
}

// panicStack returns the frames below the panic that is being recovered.
func panicStack() string {
	stack := string(debug.Stack())
	if _, after, ok := strings.Cut(stack, "\npanic("); ok {
		_, after, _ = strings.Cut(after, "\n") // the call of panic
		_, after, _ = strings.Cut(after, "\n") // its place
		stack = after
	}
	return strings.TrimSpace(stack)
}
