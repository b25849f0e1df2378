package unfencedwrite

import (
	"golang.org/x/tools/go/analysis"
	"honnef.co/go/tools/analysis/lint"

	"github.com/fencelint/fence/analyzers/internal/engine"
	"github.com/fencelint/fence/analyzers/internal/verdict"
)

// Name is the check's ID.
const Name = verdict.UnfencedWrite

// Doc describes the check for fence explain and the site.
var Doc = &lint.RawDocumentation{
	Title: "A protected table or resource is written without comparing its fence",
	Text: `A fence column holds the largest token that a row, or a scope, has seen. It rejects
a stale owner only if every write compares it in the same atomic step. One
statement that does not is a hole in the fence: an owner that was paused past the
end of its lease writes through it, over what its successor wrote.

Flagged: an UPDATE, DELETE, upsert, REPLACE, TRUNCATE, COPY or MERGE of a
protected table that neither compares the fence nor runs under a lock that its
transaction holds on the guard's row; a call that changes a declared resource
without the condition that its store offers (If-Match, ConditionExpression, a
compare in a transaction, CAS). A table is protected by a column called fence,
fence_token or fencing_token, by fence.yaml, by a comment in the schema, or by a
statement of this module that compares a column and stores it.

Quiet: a compare in the WHERE or in a conditional assignment; a row of the guard or
of the claim locked in the same transaction; SERIALIZABLE; a trigger that compares;
statements that mint the fence (a claim, a takeover, a clean-up of what has run out
by the store's clock); columns declared open; packages that are no writers;
migrations and tests.`,
	Before: `_, err := tx.Exec("UPDATE orders SET status = $1 WHERE id = $2", status, id)`,
	After: `res, err := tx.Exec("UPDATE orders SET status = $1, fence = $3 WHERE id = $2 AND fence <= $3",
	status, id, token)
// and look at res.RowsAffected: 0 means that the row is gone or has seen a larger token`,
	Since:    "0.1.0",
	Severity: lint.SeverityError,
}

// Analyzer is the check for drivers that analyse packages one by one: go vet,
// golangci-lint, nogo.
var Analyzer = New(nil)

// New returns the check for one run; nil stands for drivers that analyse packages
// one by one.
func New(env *engine.Env) *analysis.Analyzer {
	if env == nil {
		env = engine.Modular()
	}
	return env.Printer(Name, Doc.Compile().String())
}
