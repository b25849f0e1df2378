package checkthenwrite

import (
	"golang.org/x/tools/go/analysis"
	"honnef.co/go/tools/analysis/lint"

	"github.com/fencelint/fence/analyzers/internal/engine"
	"github.com/fencelint/fence/analyzers/internal/verdict"
)

// Name is the check's ID.
const Name = verdict.CheckThenWrite

// Doc describes the check for fence explain and the site.
var Doc = &lint.RawDocumentation{
	Title: "Ownership is checked, then a write is sent that does not repeat the check",
	Text: `Between the check and the write a process may pause: a garbage collection, a frozen
virtual machine, a slow disk. The lease runs out, a successor is granted
ownership and writes. Then the pause ends and the old write lands over it. The
check was true when it was made and is worth nothing when the write arrives;
only the store can compare at that moment.

Flagged: a write to a store that could compare (SQL, Redis, etcd, Consul, S3,
DynamoDB, a Kubernetes update) reached only after a lock was taken, a leadership
check said yes, a stored owner was compared with this process's identity, or a
token with the stored one; get, compare, delete; releasing a lock without
comparing its owner; creating a lock after looking whether there is one.

Quiet: writes that compare by themselves (the token, owner or version in the
WHERE, If-Match, a transaction with a compare, a script, ON CONFLICT DO NOTHING,
an update that carries the resourceVersion it read); writes under a row lock or a
transaction-scoped lock taken in the same transaction, or on the connection that
holds the session's lock; local mutexes; effects outside a store.`,
	Before: `if !elector.IsLeader() {
	return errNotLeader
}
_, err := db.ExecContext(ctx, "UPDATE plan SET state = 'done' WHERE id = $1", id)`,
	After: `res, err := db.ExecContext(ctx,
	"UPDATE plan SET state = 'done' WHERE id = $1 AND term = $2", id, term)
// and look at res.RowsAffected: 0 means that a successor owns the plan`,
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
