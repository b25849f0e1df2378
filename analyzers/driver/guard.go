package driver

import (
	"fmt"
	"go/types"
	"reflect"
	"runtime/debug"
	"strings"
	"sync"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
)

// guard keeps the failure of an analyzer on a package from spreading: a panic
// becomes an error, and one without facts about a package that is imported
// everywhere does not stop the checks of its importers, to which a fact that is
// not there is something that is not known.
//
// It works on copies. The originals are left alone, because some are shared by
// the whole process (inspect.Analyzer), and because a pass asks for results by
// the original: pass.ResultOf[inspect.Analyzer]. A copy therefore runs with a
// pass that speaks of originals only.
type guard struct {
	copies    map[*analysis.Analyzer]*analysis.Analyzer
	originals map[*analysis.Analyzer]*analysis.Analyzer

	mu     sync.Mutex
	failed map[action]error // of analyzers that export facts
}

// action is an original analyzer applied to a package.
type action struct {
	analyzer *analysis.Analyzer
	pkg      *types.Package
}

func newGuard() *guard {
	return &guard{
		copies:    make(map[*analysis.Analyzer]*analysis.Analyzer),
		originals: make(map[*analysis.Analyzer]*analysis.Analyzer),
		failed:    make(map[action]error),
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
	c.Run = func(pass *analysis.Pass) (any, error) {
		for _, r := range a.Requires {
			if g.failure(action{r, pass.Pkg}) != nil {
				return nil, fmt.Errorf("needs %s, which failed", r.Name)
			}
		}
		result, err := recovered(a, g.original(a, pass))
		if err == nil || len(a.FactTypes) == 0 {
			return result, err
		}
		// An error here would stop this analyzer on all packages that import
		// this one; settle turns it into one when they are done.
		g.mu.Lock()
		g.failed[action{a, pass.Pkg}] = err
		g.mu.Unlock()
		if a.ResultType == nil {
			return nil, nil
		}
		return reflect.Zero(a.ResultType).Interface(), nil
	}
	g.copies[a], g.originals[&c] = &c, a
	return &c
}

// original returns pass as a expects it.
func (g *guard) original(a *analysis.Analyzer, pass *analysis.Pass) *analysis.Pass {
	p := *pass
	p.Analyzer = a
	p.ResultOf = make(map[*analysis.Analyzer]any, len(pass.ResultOf))
	for c, result := range pass.ResultOf {
		p.ResultOf[g.originals[c]] = result
	}
	return &p
}

func (g *guard) failure(a action) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.failed[a]
}

// settle makes the actions of a finished graph name the originals again, and
// failures be failures.
func (g *guard) settle(graph *checker.Graph) {
	for act := range graph.All() {
		act.Analyzer = g.originals[act.Analyzer]
		if err := g.failure(action{act.Analyzer, act.Package.Types}); err != nil {
			act.Result, act.Err = nil, err
		}
	}
}

// recovered runs an analyzer and returns a panic as an error.
func recovered(a *analysis.Analyzer, pass *analysis.Pass) (result any, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			result, err = nil, fmt.Errorf("panic: %v\n%s", cause, panicStack())
		}
	}()
	return a.Run(pass)
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
