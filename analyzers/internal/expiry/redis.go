package expiry

import (
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/lease"
	"github.com/fencelint/fence/analyzers/internal/origin"
	"github.com/fencelint/fence/analyzers/internal/sink"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// byScore are the Redis commands that select by a range of scores: over a sorted
// set of leases, the score is when each runs out.
var byScore = []string{"ZRANGEBYSCORE", "ZREVRANGEBYSCORE", "ZREMRANGEBYSCORE", "ZCOUNT", "BYSCORE"}

// redis looks at scripts that select from a sorted set of leases by a score that
// is bound from outside.
func (r *Reader) redis(c *ssa.Call) []Bound {
	obj := ir.Object(&c.Call)
	if obj == nil || obj.Pkg() == nil || obj.Pkg().Path() != "github.com/redis/go-redis/v9" {
		return nil
	}
	if scoreMethods[obj.Name()] {
		return r.scores(c)
	}
	if obj.Name() != "Run" {
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
	args, ok := origin.Variadic(list)
	if !ok {
		return nil
	}
	var out []Bound
	for _, a := range args {
		out = append(out, Bound{c.Pos(), "the score in " + key, a})
	}
	return out
}

// scoreMethods are the client's methods that select by score: the key is their
// first argument after the context, the limits are the rest.
var scoreMethods = map[string]bool{
	"ZRangeByScore": true, "ZRangeByScoreWithScores": true, "ZRevRangeByScore": true, "ZRevRangeByScoreWithScores": true,
	"ZRemRangeByScore": true, "ZCount": true, "ZRangeArgs": true, "ZRangeStore": true,
}

// scores looks at the limits of a selection by score from a sorted set of leases.
func (r *Reader) scores(c *ssa.Call) []Bound {
	key := ""
	var limits []ssa.Value
	for i := 1; sink.Arg(&c.Call, i) != nil; i++ {
		a := sink.Arg(&c.Call, i)
		if i == 1 && isStringType(a.Type()) {
			for _, t := range r.Sink.Keys(a) {
				key = t
			}
			continue
		}
		limits = append(limits, r.numbers(a)...)
	}
	if !lease.IsLockKey(key) {
		return nil
	}
	var out []Bound
	for _, v := range limits {
		out = append(out, Bound{c.Pos(), "the score in " + strings.ReplaceAll(key, sqlstmt.Hole, "…"), v})
	}
	return out
}

func isStringType(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Kind() == types.String
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
	vals, _ := origin.Variadic(keys)
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
