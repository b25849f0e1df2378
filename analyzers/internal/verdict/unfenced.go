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
	// Sent is where the statement is sent (import path, file and line), if its
	// functions leave it to their callers, of which this is one, to be judged.
	Sent []string
	// Left: its callers are judged, and Outcome is not known here.
	Left bool
}

// unfencedWrites judges every write to something that is protected. A statement
// of a generated file is reported where it is called.
func (j *judge) unfencedWrites() {
	if !j.Policy.Writer(j.Pkg.Types) {
		return
	}
	for _, fn := range j.Pkg.Funcs {
		if testHelper(fn) || j.Pkg.Generated(fn.Pos()) {
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
// writes is the lease itself, whoever has it.
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
		if handle != nil && j.Defers(call.Parent()) && j.Either(handle) && !j.isLease(call.Parent()) {
			j.left(call, s.Scripts)
			return
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
	mark := ""
	if callee := ir.Callee(call.Common()); callee != nil && callee.Pkg == j.Pkg.SSA {
		if j.Pkg.Generated(callee.Pos()) {
			texts = j.Sent(callee)
		}
	} else if s := j.in.Lookup.Func(obj); s != nil {
		texts, mark = s.Sent, s.Mark()
	}
	for _, t := range texts {
		script := j.Sink.Parse(t.Text, t.Style)
		if migrates([]sqlstmt.Script{script}) {
			continue
		}
		if w := j.statements(call, j.handleOf(call), []sqlstmt.Script{script}, t.Partial, fmt.Sprintf(" in %s (%s%s)", authority.FuncName(obj), t.At, mark)); w != nil {
			w.Sent = t.Places()
		}
	}
}

// left notes the writes of statements that are for their callers to be judged by.
func (j *judge) left(call ssa.CallInstruction, scripts []sqlstmt.Script) {
	for _, sc := range scripts {
		for _, st := range sc.Stmts {
			for _, w := range st.Writes {
				if pr := j.protection(w); pr != nil {
					j.writes = append(j.writes, Write{Pos: call.Pos(), Verb: verb(w), Target: pr.Table, Sent: []string{j.At(call.Pos())}, Left: true})
				}
			}
		}
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
// what is reported at call, and returned. It is nil if none is to something protected.
func (j *judge) statements(call ssa.CallInstruction, handle ssa.Value, scripts []sqlstmt.Script, unclear bool, where string) *Write {
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
				if out.Outcome == Unfenced && unclear {
					out.Outcome, out.Why = Unproven, "part of the statement is out of sight"
				}
				switch {
				case out.Outcome == Fenced:
				case j.isLease(call.Parent()):
					out.Outcome, out.Why = Fenced, partOfLease
				case j.fed(w, st):
					out.Outcome, out.Why = Fenced, "the part of the statement that feeds it"
				default:
					out = j.underGuard(call, handle, pr, w.Op, out)
				}
				if worst == nil || out.Outcome > worst.Outcome {
					worst, of = &out, pr
				}
			}
		}
	}
	if worst == nil {
		return nil
	}
	j.writes = append(j.writes, *worst)
	if worst.Outcome == Unfenced || worst.Outcome == Unproven && j.in.Strict {
		j.reportUnfenced(call, *worst, of, where)
	}
	return &j.writes[len(j.writes)-1]
}

// partOfLease is why a function may write what it likes that fence.yaml names under
// leases.
const partOfLease = "its function is part of the lease, says fence.yaml"

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

// underGuard looks for a lock that the write's transaction holds to its commit. It
// returns w as it is then.
func (j *judge) underGuard(call ssa.CallInstruction, handle ssa.Value, pr *resource.Protection, op sqlstmt.Op, w Write) Write {
	switch h := j.holding(call, handle, pr, op); {
	case h == held:
		w.Outcome, w.Why = Fenced, "a lock that the transaction holds"
	case h == outOfSight && w.Outcome == Unfenced:
		w.Outcome, w.Why = Unproven, "who holds a lock in its transaction is out of sight"
	}
	return w
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
		j.others = append(j.others, v)
		return
	}
	j.said[call.Pos()] = true
	j.out = append(j.out, v)
}

// siblingsElsewhere adds what only the siblings in other packages ask for, where no
// other check has spoken: what a driver that sees one package says of it stays.
func (j *judge) siblingsElsewhere() {
	for _, v := range j.others {
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
