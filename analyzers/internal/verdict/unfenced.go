package verdict

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/authority"
	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/lease"
	"github.com/fencelint/fence/analyzers/internal/resource"
	"github.com/fencelint/fence/analyzers/internal/sink"
	"github.com/fencelint/fence/analyzers/internal/summary"
	"github.com/fencelint/fence/internal/config"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// Outcome says what protects a write to something protected.
type Outcome int

// The outcomes. Unproven: a part of the write is out of sight.
const (
	Fenced Outcome = iota
	Unproven
	Unfenced
)

func (o Outcome) String() string { return [...]string{"fenced", "unproven", "unfenced"}[o] }

// Write is one write to a protected table or resource, and what protects it.
type Write struct {
	Pos     token.Pos
	Verb    string
	Target  string
	Outcome Outcome
	Why     string // what compares, or what is missing or out of sight
}

// unfencedWrites judges every write to something that is protected. A statement
// of a generated file is reported where it is called.
func (j *judge) unfencedWrites() {
	if !j.Policy.Writer(j.Pkg.Types) {
		return
	}
	for _, fn := range j.Pkg.Funcs {
		if testHelper(fn) || j.Pkg.Generated(fn.Pos()) || j.isLease(fn) {
			continue
		}
		for _, b := range fn.Blocks {
			for _, in := range b.Instrs {
				if call, ok := in.(ssa.CallInstruction); ok {
					j.protectedCall(call)
				}
			}
		}
	}
}

// isLease tells whether fence.yaml names fn as part of a home-made lease: what it
// writes is the lease itself.
func (j *judge) isLease(fn *ssa.Function) bool {
	f, _ := ir.Top(fn).Object().(*types.Func)
	return f != nil && (j.Policy.Acquire(f) || j.Policy.Renew(f) || j.Policy.Release(f) || j.Policy.Check(f))
}

// protectedCall judges what one call writes.
func (j *judge) protectedCall(call ssa.CallInstruction) {
	s := j.Sink.Site(call)
	if s == nil {
		j.sent(call)
		j.namedWrite(call)
		return
	}
	if s.Spec.Store == sink.SQL && s.Verb == "COPY" {
		j.statements(call, s.Handle, copied(s), false, "")
		return
	}
	if s.Spec.Store == sink.SQL {
		if s.Target == "" || migrates(s.Scripts) {
			return
		}
		handle := s.Handle
		if handle != nil && j.Defers(call.Parent()) && j.Either(handle) {
			return // its callers are judged
		}
		if callee := ir.Callee(call.Common()); callee != nil && callee.Pkg == j.Pkg.SSA {
			handle = j.handleOf(call)
		}
		j.statements(call, handle, s.Scripts, s.Judge == sink.Unclear && s.Spec.Text < 0, "")
		return
	}
	j.declaredWrite(call, s)
}

// copied writes pgx' CopyFrom down as the COPY that it sends.
func copied(s *sink.Site) []sqlstmt.Script {
	if len(s.Texts) == 0 || len(s.Texts) > 2 {
		return nil
	}
	w := sqlstmt.Write{Op: sqlstmt.Copy, Table: sqlstmt.Table{Name: s.Texts[len(s.Texts)-1]}}
	if len(s.Texts) == 2 {
		w.Table.Schema = s.Texts[0]
	}
	return []sqlstmt.Script{{Stmts: []sqlstmt.Stmt{{Op: sqlstmt.Copy, Writes: []sqlstmt.Write{w}}}}}
}

// migrates tells whether a call changes tables too: a migration runs alone.
func migrates(scripts []sqlstmt.Script) bool {
	return slices.ContainsFunc(scripts, func(sc sqlstmt.Script) bool {
		return slices.ContainsFunc(sc.Stmts, func(st sqlstmt.Stmt) bool { return st.Op == sqlstmt.DDL })
	})
}

// sent judges the statements of a generated function where it is called.
func (j *judge) sent(call ssa.CallInstruction) {
	obj := ir.Object(call.Common())
	if obj == nil {
		return
	}
	var texts []summary.Sent
	if callee := ir.Callee(call.Common()); callee != nil && callee.Pkg == j.Pkg.SSA {
		if j.Pkg.Generated(callee.Pos()) {
			texts = j.Sent(callee)
		}
	} else if s := j.in.Lookup.Func(obj); s != nil {
		texts = s.Sent
		if len(texts) > 0 && s.Mark() != "" {
			texts = slices.Clone(texts)
			for i := range texts {
				texts[i].At += s.Mark()
			}
		}
	}
	for _, t := range texts {
		script := j.Sink.Parse(t.Text, t.Style)
		if migrates([]sqlstmt.Script{script}) {
			continue
		}
		j.statements(call, j.handleOf(call), []sqlstmt.Script{script}, false, fmt.Sprintf(" in %s (%s)", authority.FuncName(obj), t.At))
	}
}

// handleOf returns the transaction that a call hands on, or what it is made on.
func (j *judge) handleOf(call ssa.CallInstruction) ssa.Value {
	for _, a := range call.Common().Args {
		if isTx(a) {
			return a
		}
	}
	return sink.Receiver(call.Common())
}

// statements judges the writes of some statements: the first that is not fenced is
// what is reported at call.
func (j *judge) statements(call ssa.CallInstruction, handle ssa.Value, scripts []sqlstmt.Script, unclear bool, where string) {
	var worst *Write
	var of *resource.Protection
	for _, sc := range scripts {
		for _, st := range sc.Stmts {
			for _, w := range st.Writes {
				pr := j.protection(w)
				if pr == nil {
					continue
				}
				out := Write{Pos: call.Pos(), Verb: verb(w), Target: pr.Table}
				out.Outcome, out.Why = compareFence(w, pr, j.Sink.Token)
				switch {
				case out.Outcome != Unfenced:
				case j.fed(w, st):
					out.Outcome, out.Why = Fenced, "the part of the statement that feeds it"
				case unclear:
					out.Outcome, out.Why = Unproven, "part of the statement is out of sight"
				default:
					out.Outcome, out.Why = j.underGuard(call, handle, pr, out.Why)
				}
				if worst == nil || out.Outcome > worst.Outcome {
					worst, of = &out, pr
				}
			}
		}
	}
	if worst == nil {
		return
	}
	j.writes = append(j.writes, *worst)
	if worst.Outcome == Unfenced || worst.Outcome == Unproven && j.in.Strict {
		j.reportUnfenced(call, *worst, of, where)
	}
}

// protection returns how the table of a write is protected: as declared, or as its
// siblings treat it, or nil. A sibling asks only what changes the same columns, and
// only if it compares nothing in the fence's place.
func (j *judge) protection(w sqlstmt.Write) *resource.Protection {
	if pr := j.Policy.Protection(w.Table); pr != nil || w.Op != sqlstmt.Update || w.Table.Dynamic || w.Table.Temp {
		return pr
	}
	mark, elsewhere := "", false
	s, sets, ok := summary.FencedBy(j.in.Own, w.Table.Name)
	if !ok {
		mark, elsewhere = " (via module)", true
		if s, sets, ok = summary.FencedBy(j.in.Siblings, w.Table.Name); !ok {
			return nil
		}
	}
	if !slices.ContainsFunc(w.Set, func(a sqlstmt.Assign) bool {
		return containsFold(sets, a.Column) && !strings.EqualFold(a.Column, s.Column)
	}) ||
		sink.JudgeWrite(w, j.Sink.Token) != sink.Plain {
		return nil
	}
	rule := config.Equal
	if s.Trait == summary.Kept {
		rule = config.Monotonic
	}
	return &resource.Protection{Table: w.Table.Name, Fences: []resource.Fence{{Column: s.Column, Rule: rule}},
		Sibling: true, Elsewhere: elsewhere, Declared: "the statement at " + s.At + mark}
}

func verb(w sqlstmt.Write) string {
	switch {
	case w.Replace:
		return "REPLACE"
	case w.Op == sqlstmt.Insert && w.Conflict != nil:
		return "upsert"
	}
	return sink.VerbOf(w.Op)
}

// underGuard looks for a lock that the write's transaction holds to its commit.
func (j *judge) underGuard(call ssa.CallInstruction, handle ssa.Value, pr *resource.Protection, why string) (Outcome, string) {
	switch j.holding(call, handle, pr) {
	case held:
		return Fenced, "a lock that the transaction holds"
	case outOfSight:
		return Unproven, "who holds a lock in its transaction is out of sight"
	}
	return Unfenced, why
}

// compareFence judges one write of a statement by itself.
func compareFence(w sqlstmt.Write, pr *resource.Protection, tokens func(table, column string) bool) (Outcome, string) {
	switch {
	case pr.Enforced:
		return Fenced, "a trigger, says fence.yaml"
	case triggered(w, pr):
		return Fenced, "a trigger"
	case w.WhereUnknown || w.CurrentOf:
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
		if !pr.Monotonic() || sink.Reaps(w) {
			return Fenced, "an expiry on the store's clock"
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

// fed tells whether a write gets its rows from a data-modifying CTE of the same
// statement that is fenced itself.
func (j *judge) fed(w sqlstmt.Write, st sqlstmt.Stmt) bool {
	reads := map[string]bool{}
	note := func(ts []sqlstmt.Table) {
		for _, t := range ts {
			reads[strings.ToLower(t.Name)] = true
		}
	}
	var query func(q *sqlstmt.Query)
	query = func(q *sqlstmt.Query) {
		if q == nil {
			return
		}
		note(q.Derived)
		for _, s := range q.Sub {
			query(s)
		}
	}
	note(w.Derived)
	query(w.Source)
	for _, q := range w.Sub {
		query(q)
	}
	return slices.ContainsFunc(st.Writes, func(o sqlstmt.Write) bool {
		if !o.InCTE || o.Name == "" || o.Name == w.Name || !reads[strings.ToLower(o.Name)] {
			return false
		}
		pr := j.Policy.Protection(o.Table)
		return pr != nil && asksFence(o, pr)
	})
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
func remedy(pr *resource.Protection) string {
	switch {
	case pr == nil:
		return "send it with the condition that the store offers (If-Match, a compare in a transaction, CAS), made of the token"
	case pr.Guard != "":
		return "lock the row of " + pr.Guard + " (FOR SHARE) and compare its token in the same transaction"
	case pr.Locked:
		return "lock the row (FOR UPDATE) in the same transaction, before or after"
	case len(pr.Fences) == 0:
		return "give the table a fence column, compare it in the WHERE and store the token with the change"
	}
	f := pr.Fences[0]
	if pr.Monotonic() {
		return fmt.Sprintf("add %s <= the token to the WHERE, store the token in %s with the change, and look at the rows affected", f.Column, f.Column)
	}
	return fmt.Sprintf("add %s = the value of this claim to the WHERE and look at the rows affected", f.Column)
}

func (j *judge) reportUnfenced(call ssa.CallInstruction, w Write, pr *resource.Protection, where string) {
	what := w.Verb + " of " + w.Target + where
	by := "which fence.yaml protects"
	switch {
	case pr == nil:
	case pr.Sibling:
		by = "as " + pr.Declared + " does"
	default:
		by = "which " + pr.Declared + " protects"
	}
	msg := fmt.Sprintf("%s %s, %s: a pause before this call outlasts the lease, a successor is granted a larger token and writes, then this write lands over it; %s",
		what, w.Why, by, remedy(pr))
	if w.Outcome == Unproven {
		msg = fmt.Sprintf("%s, %s, is unproven: %s; %s", what, by, w.Why, remedy(pr))
	}
	v := Verdict{Check: UnfencedWrite, Pos: call.Pos(), Message: msg, Resource: w.Target, Related: j.lateStory(call)}
	if pr != nil && pr.Elsewhere {
		j.late = append(j.late, v)
		return
	}
	j.said[call.Pos()] = true
	j.out = append(j.out, v)
}

// siblingsElsewhere adds what only the siblings in other packages ask for, where no
// other check has spoken: what a driver that sees one package says of it stays.
func (j *judge) siblingsElsewhere() {
	for _, v := range j.late {
		if !slices.ContainsFunc(j.out, func(o Verdict) bool { return o.Pos == v.Pos && o.Check == CheckThenWrite }) {
			j.out = append(j.out, v)
		}
	}
}

// lateStory tells the order of events: where ownership was checked, if it was, and
// where a pause makes the write late.
func (j *judge) lateStory(call ssa.CallInstruction) []Related {
	var out []Related
	for _, reg := range j.Authority.Regions(call.Parent()) {
		if reg.Contains(call) && !reg.Ev.Held && !reg.Ev.Weak && reg.Ev.Pos.IsValid() {
			out = append(out, Related{reg.Ev.Pos, "1. ownership is checked here: " + fmt.Sprintf(reasons[reg.Ev.Kind].checked, reg.Ev.What)})
			break
		}
	}
	if out == nil {
		out = []Related{{call.Parent().Pos(), "1. the owner's work is here"}}
	}
	return append(out, Related{call.Pos(), "2. a pause before this write outlasts the lease; a successor is granted ownership and writes; 3. this write lands late"})
}
