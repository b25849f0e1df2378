package verdict

// This file judges one write of a statement by itself: what it compares of its fence,
// and what it does in the fence's place.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fencelint/fence/analyzers/internal/authority"
	"github.com/fencelint/fence/analyzers/internal/lease"
	"github.com/fencelint/fence/analyzers/internal/resource"
	"github.com/fencelint/fence/analyzers/internal/sink"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// compareFence judges one write of a statement by itself.
func compareFence(w sqlstmt.Write, pr *resource.Protection, tokens func(table, column string) bool) (Outcome, string) {
	switch {
	case pr.Enforced:
		return Fenced, "a trigger, says fence.yaml"
	case triggered(w, pr):
		return Fenced, "a trigger"
	case (w.WhereUnknown || w.CurrentOf) && !valuesUnderGuard(w, pr):
		return Unproven, "its WHERE is partly out of sight"
	}
	if len(pr.Fences) == 0 {
		return compareNothing(w, pr, tokens)
	}
	missing := fmt.Sprintf("does not compare %s", columns(pr))
	switch {
	case asksFence(w, pr):
		return Fenced, "its fence"
	case !storesAny(w, pr):
	case mints(w, pr) || sink.Reaps(w) || takesFree(w):
		return Fenced, "a claim that mints its fence"
	default:
		missing = fmt.Sprintf("stores %s without comparing it", columns(pr))
	}
	switch w.Op {
	case sqlstmt.Insert:
		return compareInsert(w, pr, missing)
	case sqlstmt.Truncate, sqlstmt.Copy, sqlstmt.Merge:
		if !pr.Monotonic() {
			return Fenced, "a rule that only updates break"
		}
		return Unfenced, missing
	case sqlstmt.Delete:
		switch {
		case sink.Reaps(w):
			return Fenced, "an expiry on the store's clock"
		case !pr.Monotonic() && !lease.Ownership.Has(pr.Table): // who deletes a lock releases it
			return Fenced, "a rule that only updates break"
		}
		return Unfenced, missing
	case sqlstmt.Update:
		switch {
		case sparesState(w):
			return Fenced, "a state in which it changes nothing"
		case sink.JudgeWrite(w, nil) == sink.Plain && !slices.ContainsFunc(w.Set, func(a sqlstmt.Assign) bool { return !optional(w, a) }):
			return Unproven, "which columns it sets is for its arguments to say"
		case len(w.Set) > 0 && allOpen(w.Set, pr):
			return Fenced, "columns that anybody may set"
		case sink.Reaps(w):
			return Fenced, "an expiry on the store's clock"
		case len(pr.Open) > 0 && unknownColumns(w.Set):
			return Unproven, "which columns it sets is out of sight"
		}
		return Unfenced, missing
	}
	return Fenced, ""
}

// valuesUnderGuard tells whether a write inserts values where only the row of a guard
// protects: values lock nothing, seen or not.
func valuesUnderGuard(w sqlstmt.Write, pr *resource.Protection) bool {
	return w.Op == sqlstmt.Insert && len(w.From) == 0 && pr.Guard != "" && len(pr.Fences) == 0
}

// compareNothing judges a write to a table without a fence column: only a lock can
// protect it, or what the statement compares in its place.
func compareNothing(w sqlstmt.Write, pr *resource.Protection, tokens func(table, column string) bool) (Outcome, string) {
	switch {
	case w.Op == sqlstmt.Update && len(w.Set) > 0 && allOpen(w.Set, pr):
		return Fenced, "columns that anybody may set"
	case pr.Guard != "" && asksIdentity(w, pr):
		return Fenced, "an identity beside its key"
	case pr.Guard != "":
		return Unfenced, "locks no row of " + pr.Guard + " in its transaction"
	case pr.Locked:
		return Unfenced, "holds no lock to the commit"
	}
	switch sink.JudgeWrite(w, tokens) {
	case sink.Compared:
		return Fenced, "what it compares"
	case sink.Unclear:
		return Unproven, "part of the statement is out of sight"
	}
	return Unfenced, "compares nothing: the table has no fence yet"
}

// asksIdentity tells whether a write asks, beside the key of its row, whose run the
// row belongs to: a later run has another id, and the write does nothing to it.
func asksIdentity(w sqlstmt.Write, pr *resource.Protection) bool {
	return len(pr.Key) > 0 && slices.ContainsFunc(w.Where, func(c sqlstmt.Cond) bool {
		if c.Op != "=" || c.Left.Kind != sqlstmt.Column || c.Right.Kind != sqlstmt.Param || containsFold(pr.Key, c.Left.Name) {
			return false
		}
		ws := lease.Words(c.Left.Name)
		return len(ws) > 1 && ws[len(ws)-1] == "id"
	})
}

// compareInsert: a new row has no fence to break, but REPLACE removes the old one
// and an upsert changes it.
func compareInsert(w sqlstmt.Write, pr *resource.Protection, missing string) (Outcome, string) {
	switch {
	case !pr.Monotonic():
		return Fenced, "a rule that only updates break"
	case w.Replace:
		return Unfenced, "replaces the row whatever its fence"
	}
	for c := w.Conflict; c != nil; c = c.Next {
		if !c.DoNothing && len(c.Set) > 0 && !allOpen(c.Set, pr) {
			return Unfenced, missing + " in its update arm"
		}
	}
	return Fenced, "a new row"
}

// optional tells whether an assignment may leave its column as it is:
// CASE WHEN $1 THEN $2 ELSE attempt END.
func optional(w sqlstmt.Write, a sqlstmt.Assign) bool {
	return a.Value.Kind == sqlstmt.Case && slices.ContainsFunc(a.Value.Args, func(e sqlstmt.Expr) bool {
		return e.Kind == sqlstmt.Column && strings.EqualFold(e.Name, a.Column) &&
			(e.Table == "" || strings.EqualFold(e.Table, w.Table.Name) || strings.EqualFold(e.Table, w.Table.Alias))
	})
}

// sparesState tells whether an update leaves alone the rows of some state, in which a
// worker has them: SET state = CASE WHEN state = 'running' THEN state ELSE ... END.
func sparesState(w sqlstmt.Write) bool {
	return slices.ContainsFunc(w.Set, func(a sqlstmt.Assign) bool {
		return lease.State.Has(a.Column) && optional(w, a) && slices.ContainsFunc(a.Value.Conds, func(c sqlstmt.Cond) bool {
			return c.Left.Kind == sqlstmt.Column && strings.EqualFold(c.Left.Name, a.Column) && c.Right.Kind == sqlstmt.Literal
		})
	})
}

func allOpen(set []sqlstmt.Assign, pr *resource.Protection) bool {
	return !slices.ContainsFunc(set, func(a sqlstmt.Assign) bool { return !pr.IsOpen(a.Column) })
}

func unknownColumns(set []sqlstmt.Assign) bool {
	return len(set) == 0 || slices.ContainsFunc(set, func(a sqlstmt.Assign) bool {
		return a.Column == sink.UnknownColumn || strings.Contains(a.Column, sqlstmt.Hole)
	})
}

// asksFence tells whether a write compares its fence with something. Whether rightly
// is fencecompare's to say.
func asksFence(w sqlstmt.Write, pr *resource.Protection) bool {
	if comparesFence(w.Where, pr) || asksInSet(w.Set, pr) {
		return true
	}
	for c := w.Conflict; c != nil; c = c.Next {
		if comparesFence(c.Where, pr) || asksInSet(c.Set, pr) {
			return true
		}
	}
	if w.Source != nil && comparesFence(w.Source.Where, pr) {
		return true
	}
	return slices.ContainsFunc(w.Sub, func(q *sqlstmt.Query) bool { return comparesFence(q.Where, pr) })
}

func comparesFence(cs []sqlstmt.Cond, pr *resource.Protection) bool {
	return slices.ContainsFunc(cs, func(c sqlstmt.Cond) bool {
		if comparesFence(c.Any, pr) || comparesFence(c.All, pr) || c.Sub != nil && comparesFence(c.Sub.Where, pr) {
			return true
		}
		if c.Op == "IS NOT NULL" {
			return false
		}
		l, r := hasFence(c.Left, pr), hasFence(c.Right, pr)
		switch {
		case l && r, c.Op == "IS NULL" && l:
			return true
		case l:
			return c.Right.Kind != sqlstmt.Literal || c.List != nil
		case r:
			return c.Left.Kind != sqlstmt.Literal
		}
		return false
	})
}

// asksInSet tells whether an assignment depends on the fence: CASE WHEN fence <= $1.
func asksInSet(set []sqlstmt.Assign, pr *resource.Protection) bool {
	return slices.ContainsFunc(set, func(a sqlstmt.Assign) bool {
		asks := false
		a.Value.Walk(func(e sqlstmt.Expr) { asks = asks || comparesFence(e.Conds, pr) })
		return asks
	})
}

// fenceValues returns what a write gives its fences, NULLs and other constants
// aside, which only take them away.
func fenceValues(w sqlstmt.Write, pr *resource.Protection) []sqlstmt.Assign {
	set := w.Set
	for c := w.Conflict; c != nil; c = c.Next {
		set = append(slices.Clip(set), c.Set...)
	}
	var out []sqlstmt.Assign
	for _, a := range set {
		if pr.HasFence(a.Column) && a.Value.Kind != sqlstmt.Literal {
			out = append(out, a)
		}
	}
	return out
}

func storesAny(w sqlstmt.Write, pr *resource.Protection) bool { return len(fenceValues(w, pr)) > 0 }

// mints tells whether a write makes a new value of its fence out of the old one, or
// asks the database for one.
func mints(w sqlstmt.Write, pr *resource.Protection) bool {
	return slices.ContainsFunc(fenceValues(w, pr), func(a sqlstmt.Assign) bool {
		return hasFence(a.Value, pr) && a.Value.Kind != sqlstmt.Column && a.Value.Kind != sqlstmt.Case || a.Value.Kind == sqlstmt.Func && len(a.Value.Args) == 0
	})
}

// takesFree tells whether a write takes a row that nobody has: its owner or its end
// is NULL, or it leaves one state for another.
func takesFree(w sqlstmt.Write) bool {
	literal := func(column string) bool {
		return slices.ContainsFunc(w.Set, func(a sqlstmt.Assign) bool {
			return strings.EqualFold(a.Column, column) && a.Value.Kind == sqlstmt.Literal
		})
	}
	var free func(cs []sqlstmt.Cond) bool
	free = func(cs []sqlstmt.Cond) bool {
		return slices.ContainsFunc(cs, func(c sqlstmt.Cond) bool {
			switch {
			case free(c.Any), free(c.All), c.Sub != nil && (c.Sub.Lock > sqlstmt.NoLock || free(c.Sub.Where)):
				return true
			case c.Op == "IS NULL" && c.Left.Kind == sqlstmt.Column:
				return authority.Takes(c.Left.Name) || lease.Process.Has(c.Left.Name) || lease.Ownership.Has(c.Left.Name)
			case c.Left.Kind == sqlstmt.Column && c.Right.Kind == sqlstmt.Literal:
				return literal(c.Left.Name)
			}
			for _, e := range []sqlstmt.Expr{c.Left, c.Right} {
				if e.Sub != nil && (e.Sub.Lock > sqlstmt.NoLock || free(e.Sub.Where)) {
					return true
				}
			}
			return false
		})
	}
	if free(w.Where) {
		return true
	}
	for c := w.Conflict; c != nil; c = c.Next {
		if free(c.Where) || len(c.Where) > 0 && sink.RunsOut(c.Where) {
			return true
		}
	}
	return slices.ContainsFunc(w.Sub, func(q *sqlstmt.Query) bool { return q.Lock > sqlstmt.NoLock })
}

func hasFence(e sqlstmt.Expr, pr *resource.Protection) bool {
	found := false
	e.Walk(func(e sqlstmt.Expr) { found = found || e.Kind == sqlstmt.Column && pr.HasFence(e.Name) })
	return found
}

// triggered tells whether a trigger of the schema compares a fence before a write
// like this one.
func triggered(w sqlstmt.Write, pr *resource.Protection) bool {
	event := map[sqlstmt.Op]string{sqlstmt.Insert: "insert", sqlstmt.Update: "update", sqlstmt.Delete: "delete", sqlstmt.Truncate: "truncate"}[w.Op]
	for _, t := range pr.Triggers {
		if !slices.Contains(t.Events, event) {
			if w.Op != sqlstmt.Insert || w.Conflict == nil || !slices.Contains(t.Events, "update") {
				continue
			}
		}
		if len(t.UpdateOf) > 0 && !slices.ContainsFunc(w.Set, func(a sqlstmt.Assign) bool { return containsFold(t.UpdateOf, a.Column) }) {
			continue
		}
		text := strings.ToLower(t.When + " " + t.Body)
		if !strings.Contains(text, "raise") && !strings.Contains(text, "signal") {
			continue // it rejects nothing
		}
		if len(pr.Fences) == 0 || slices.ContainsFunc(pr.Fences, func(f resource.Fence) bool { return strings.Contains(text, strings.ToLower(f.Column)) }) {
			return true
		}
	}
	return false
}

func containsFold(list []string, s string) bool {
	return slices.ContainsFunc(list, func(x string) bool { return strings.EqualFold(x, s) })
}

func columns(pr *resource.Protection) string {
	var out []string
	for _, f := range pr.Fences {
		out = append(out, pr.Table+"."+f.Column)
	}
	return strings.Join(out, " or ")
}

// remedies say what to do instead.
