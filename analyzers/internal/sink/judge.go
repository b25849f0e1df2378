package sink

import (
	"slices"
	"strings"

	"github.com/fencelint/fence/analyzers/internal/lease"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// JudgeWrite says whether an SQL write compares who owns the row, or in what
// state it is, in its own statement. token tells of further columns that they are
// tokens or identities of a grant (nil: there are none).
func JudgeWrite(w sqlstmt.Write, token func(table, column string) bool) Judgement {
	switch w.Op {
	case sqlstmt.Insert:
		return judgeInsert(w)
	case sqlstmt.Update, sqlstmt.Delete, sqlstmt.Merge:
		if anyCond(w.Where, func(c sqlstmt.Cond) bool { return guards(c, w, token) }) {
			return Compared
		}
		if w.WhereUnknown || w.CurrentOf {
			return Unclear
		}
		return Plain
	case sqlstmt.Truncate, sqlstmt.Copy:
		return Plain
	}
	return NotAWrite
}

func judgeInsert(w sqlstmt.Write) Judgement {
	switch {
	case w.Replace:
		return Plain
	case w.Ignore:
		return Compared
	case w.Conflict != nil && (w.Conflict.DoNothing || len(w.Conflict.Where) > 0):
		return Compared
	case w.Source != nil && (len(w.Source.Where) > 0 || w.Source.Unknown):
		return Unclear
	case w.WhereUnknown:
		return Unclear // a tail may hold ON CONFLICT
	}
	return Plain
}

// anyCond tells whether f holds for one of the conditions that are all required,
// or for every arm of an OR among them.
func anyCond(cs []sqlstmt.Cond, f func(sqlstmt.Cond) bool) bool {
	return slices.ContainsFunc(cs, func(c sqlstmt.Cond) bool {
		if f(c) {
			return true
		}
		if c.Op == "OR" && len(c.Any) > 0 {
			return !slices.ContainsFunc(c.Any, func(a sqlstmt.Cond) bool {
				if a.Op == "AND" {
					return !anyCond(a.All, f)
				}
				return !anyCond([]sqlstmt.Cond{a}, f)
			})
		}
		return false
	})
}

// guards tells whether a condition makes w safe against a former owner: it
// compares an owner, a token, a version, or the state that the statement
// changes, or it takes over what has run out by the store's clock.
func guards(c sqlstmt.Cond, w sqlstmt.Write, token func(table, column string) bool) bool {
	if c.Sub != nil {
		return anyCond(c.Sub.Where, func(c sqlstmt.Cond) bool { return guards(c, w, token) }) || c.Sub.Lock != sqlstmt.NoLock
	}
	for _, e := range []sqlstmt.Expr{c.Left, c.Right} {
		if e.Kind == sqlstmt.SubQuery && e.Sub != nil &&
			(e.Sub.Lock != sqlstmt.NoLock || anyCond(e.Sub.Where, func(c sqlstmt.Cond) bool { return guards(c, w, token) })) {
			return true
		}
	}
	col, other := c.Left, c.Right
	if col.Kind != sqlstmt.Column {
		col, other = other, col
	}
	if col.Kind != sqlstmt.Column {
		return false
	}
	switch {
	case lease.IsHolderName(col.Name), lease.IsTokenName(col.Name):
		return true
	case token != nil && token(w.Table.Name, col.Name):
		return true
	case versionWords.Has(col.Name):
		return true
	case lease.State.Has(col.Name):
		return c.Op != "IS NOT NULL" && (w.Op == sqlstmt.Delete || assigns(w, col.Name))
	case lease.Expiry.Has(col.Name) || strings.HasSuffix(col.Name, "_at"):
		// "and it has run out", "and it is not finished yet"
		return isNow(other) || c.Op == "IS NULL" || (c.Op == "=" && assigns(w, col.Name))
	case c.Op == "IS NULL":
		return assigns(w, col.Name) // takes what nobody has
	}
	return assigns(w, col.Name) && c.Op == "=" && other.Kind != sqlstmt.Column
}

// Reaps tells whether a write takes only what has run out by the store's own
// clock: a claim, a takeover, a clean-up.
func Reaps(w sqlstmt.Write) bool { return RunsOut(w.Where) }

// Frees tells whether a write takes a row from whoever has it: it empties the column
// that says who that is.
func Frees(w sqlstmt.Write) bool {
	return w.Op == sqlstmt.Update && slices.ContainsFunc(w.Set, func(a sqlstmt.Assign) bool {
		return (lease.IsHolderName(a.Column) || lease.IsWorkerName(a.Column)) && a.Value.Kind == sqlstmt.Literal &&
			(a.Value.Name == "null" || strings.Trim(a.Value.Text, "'") == "")
	})
}

// RunsOut is Reaps for conditions that are all required.
func RunsOut(cs []sqlstmt.Cond) bool {
	return slices.ContainsFunc(cs, func(c sqlstmt.Cond) bool {
		if c.Sub != nil && slices.ContainsFunc(c.Sub.Where, ranOut) {
			return true
		}
		for _, e := range []sqlstmt.Expr{c.Left, c.Right} {
			if e.Kind == sqlstmt.SubQuery && e.Sub != nil && slices.ContainsFunc(e.Sub.Where, ranOut) {
				return true
			}
		}
		return ranOut(c)
	})
}

// ranOut tells whether a condition compares an instant with the store's clock: "it is
// not set, or it has passed".
func ranOut(c sqlstmt.Cond) bool {
	if c.Op == "OR" {
		passed := false
		for _, a := range c.Any {
			switch {
			case ranOut(a), a.Op == "AND" && slices.ContainsFunc(a.All, ranOut):
				passed = true
			case a.Op == "IS NULL", a.Op == "=": // nobody has it, or it is in a state that nobody owns
			default:
				return false
			}
		}
		return passed
	}
	if isClaimTime(c.Left) && c.Right.Kind == sqlstmt.Param && (c.Op == "<" || c.Op == "<=") {
		return true // a horizon that the caller binds
	}
	return (isInstant(c.Left) || isInstant(c.Right)) && (isNow(c.Left) || isNow(c.Right))
}

// isClaimTime tells whether a column says when a row was claimed, or until when.
func isClaimTime(e sqlstmt.Expr) bool {
	return e.Kind == sqlstmt.Column && (lease.Expiry.Has(e.Name) || lease.Ownership.Has(e.Name) || claimTimes.Has(e.Name))
}

var claimTimes = lease.Set{"attempted": true, "started": true, "picked": true, "taken": true, "reserved": true}

func isInstant(e sqlstmt.Expr) bool {
	found := false
	e.Walk(func(e sqlstmt.Expr) {
		found = found || e.Kind == sqlstmt.Column && (lease.Expiry.Has(e.Name) || strings.HasSuffix(e.Name, "_at"))
	})
	return found
}

// versionWords name columns whose equality is optimistic locking.
var versionWords = lease.Set{"version": true, "revision": true, "etag": true, "xmin": true, "rev": true, "seq": true, "nonce": true}

// VersionName tells whether a column's name says that its equality is optimistic
// locking.
func VersionName(column string) bool { return versionWords.Has(column) }

func assigns(w sqlstmt.Write, col string) bool {
	return slices.ContainsFunc(w.Set, func(a sqlstmt.Assign) bool { return strings.EqualFold(a.Column, col) })
}

// isNow tells whether an expression is the store's own clock, alone or in
// arithmetic.
func isNow(e sqlstmt.Expr) bool {
	found := false
	e.Walk(func(e sqlstmt.Expr) {
		if e.Kind == sqlstmt.Func && storeClock[e.Name] {
			found = true
		}
	})
	return found
}

var storeClock = map[string]bool{
	"now": true, "current_timestamp": true, "clock_timestamp": true, "statement_timestamp": true,
	"transaction_timestamp": true, "localtimestamp": true, "datetime": true, "strftime": true, "unixepoch": true,
	"julianday": true, "sysdate": true, "utc_timestamp": true, "unix_timestamp": true, "current_date": true,
}
