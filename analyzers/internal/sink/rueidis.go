package sink

import (
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
)

const rueidisPath = "github.com/redis/rueidis"

func isRueidis(f *types.Func) bool {
	return f.Pkg() != nil && f.Pkg().Path() == rueidisPath && f.Name() == "Do"
}

// redisCommands maps the name of a command, in lower case, to what go-redis' method
// of that name does.
var redisCommands = func() map[string]Spec {
	m := map[string]Spec{}
	for name, s := range packages["github.com/redis/go-redis/v9"] {
		s.Verb = name
		m[strings.ToLower(name)] = s
	}
	return m
}()

// rueidisSite reads a command that is built and then sent:
// client.Do(ctx, client.B().Set().Key(k).Value(v).Nx().Build()).
func (r *Reader) rueidisSite(s *Site) *Site {
	absent := false
	name := ""
	complete := r.Trace.Walk(Arg(s.Call.Common(), 1), func(v, filled ssa.Value) ([]ssa.Value, bool) {
		c, ok := v.(*ssa.Call)
		if !ok || filled != nil {
			return nil, filled != nil
		}
		obj := ir.Object(&c.Call)
		if obj == nil || obj.Pkg() == nil || !strings.HasPrefix(obj.Pkg().Path(), rueidisPath) {
			return nil, false
		}
		switch obj.Name() {
		case "B":
			return nil, true
		case "Nx":
			absent = true
		case "Key":
			s.Texts = r.Keys(Arg(&c.Call, 0))
			s.Target = show(s.Texts)
		}
		name = obj.Name() // the last that is met stands first in the chain
		return []ssa.Value{Receiver(&c.Call)}, true
	})
	spec, known := redisCommands[strings.ToLower(name)]
	if !known || spec.Op == Script {
		return nil
	}
	s.Spec = Spec{Store: Redis, Op: spec.Op, Text: -1, Args: -1, Key: -1, Input: -1, Verb: spec.Verb}
	if absent {
		s.Spec.Op = Claim
	}
	s.Verb, s.Judge = spec.Verb, judgeOp(s.Spec.Op)
	if !complete && s.Judge == Plain {
		s.Judge = Unclear
	}
	return s
}
