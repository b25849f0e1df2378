package expiry

import (
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/lease"
	"github.com/fencelint/fence/analyzers/internal/origin"
	"github.com/fencelint/fence/analyzers/internal/sink"
)

// byScore are the Redis commands that select by a range of scores: over a sorted
// set of leases, the score is when each runs out.
var byScore = []string{"ZRANGEBYSCORE", "ZREVRANGEBYSCORE", "ZREMRANGEBYSCORE", "ZCOUNT", "BYSCORE"}

// redis looks at scripts that select from a sorted set of leases by a score that
// is bound from outside.
func (r *Reader) redis(c *ssa.Call) []Bound {
	obj := ir.Object(&c.Call)
	if obj == nil || obj.Pkg() == nil || obj.Pkg().Path() != "github.com/redis/go-redis/v9" || obj.Name() != "Run" {
		return nil
	}
	keys, list := sink.Arg(&c.Call, 2), sink.Arg(&c.Call, 3)
	if keys == nil || list == nil || !r.selects(sink.Receiver(&c.Call)) {
		return nil
	}
	key, ok := r.leaseKey(keys)
	if !ok {
		return nil
	}
	args, ok := origin.Variadic(r.Pkg, list)
	if !ok {
		return nil
	}
	var out []Bound
	for _, a := range args {
		out = append(out, Bound{c.Pos(), "the score in " + key, a})
	}
	return out
}

// selects tells whether the text of a script selects by score.
func (r *Reader) selects(script ssa.Value) bool {
	found := false
	r.Sink.Trace.Walk(script, func(v, out ssa.Value) ([]ssa.Value, bool) {
		c, ok := v.(*ssa.Call)
		if !ok || out != nil || len(c.Call.Args) == 0 {
			return nil, out != nil
		}
		for _, t := range r.Text.Texts(c.Call.Args[0]) {
			for _, w := range byScore {
				found = found || strings.Contains(strings.ToUpper(t), w)
			}
		}
		return nil, true
	})
	return found
}

// leaseKey returns the key of a list of keys that names leases or locks, by its
// text or by the function that makes it.
func (r *Reader) leaseKey(keys ssa.Value) (string, bool) {
	vals, _ := origin.Variadic(r.Pkg, keys)
	for _, v := range vals {
		for _, t := range r.Text.Texts(v) {
			if lease.Ownership.Has(t) {
				return t, true
			}
		}
		if c, ok := v.(*ssa.Call); ok {
			if obj := ir.Object(&c.Call); obj != nil && lease.Ownership.Has(obj.Name()) {
				return obj.Name(), true
			}
		}
	}
	return "", false
}
