package wallclockexpiry

import (
	"golang.org/x/tools/go/analysis"
	"honnef.co/go/tools/analysis/lint"

	"github.com/fencelint/fence/analyzers/internal/engine"
	"github.com/fencelint/fence/analyzers/internal/verdict"
)

// Name is the check's ID.
const Name = verdict.WallClockExpiry

// Doc describes the check for fence explain and the site.
var Doc = &lint.RawDocumentation{
	Title: "An ownership expiry that another process wrote is compared with the local wall clock",
	Text: `Two machines never agree on the time. A contender whose clock runs ahead sees a
lease as expired that its owner still relies on, takes over, and both write. An
owner whose clock runs behind goes on after a successor was granted. NTP, leap
smearing, a resumed virtual machine and an operator's hand all step clocks.

Flagged: time.Now, Since or Until against an expiry or heartbeat of a lock,
lease, claim or leader that was read from a column, a key, a file, a message or a
Kubernetes Lease, at the comparison; a local time bound as a parameter where SQL
decides such an expiry; an ownership deadline of this process that lost its
monotonic reading (UTC, In, Round, Truncate, encoding) before it is compared.

Quiet: expiries that decide nothing about the ownership of work (sessions,
certificates, tokens of third parties, caches, schedules, retention); deadlines
this process made from its monotonic clock; comparisons in the store's own time;
expiry counted from when this process saw the record change.`,
	Before: `if time.Now().After(lease.ExpiresAt) { // written by the owner's machine
	takeOver()
}`,
	After: `UPDATE leases SET owner = $1, token = token + 1, expires_at = now() + $2
WHERE name = $3 AND expires_at < now() -- the store's clock on both sides`,
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
