package metrics

import "slices"

// A Kind is what an instrument does.
type Kind string

// The kinds. The values of an UpDown of several processes may be added up, those of a Gauge
// may not; to Prometheus both are gauges.
const (
	Counter   Kind = "counter"
	UpDown    Kind = "updown"
	Gauge     Kind = "gauge"
	Histogram Kind = "histogram"
)

// Other is the value of a label whose own value is not one of those it may have.
const Other = "other"

// MaxValues is how many different values of one open [Label] a [Recorder] tells apart.
const MaxValues = 100

// A Label is a label, or attribute, of a metric. It has the same name in Prometheus and in
// OpenTelemetry, so that one alert rule holds for both.
type Label struct {
	Name   string
	Values []string // all that it may have; nil says that the program chooses them, up to MaxValues
}

// Open tells whether the program chooses the label's values.
func (l Label) Open() bool { return l.Values == nil }

// A Metric is a row of the catalogue.
type Metric struct {
	ID         ID
	Name       string    // in OpenTelemetry
	Prometheus string    // the name in Prometheus
	Unit       string    // by UCUM, "s" or an annotation as "{lease}"; Prometheus has base units only, too
	Kind       Kind      //
	Labels     []Label   // in the order in which a Sink is given their values
	Bounds     []float64 // upper bounds of a histogram's buckets, without infinity
	Help       string    // one sentence
	Receipt    string    // what of [fencedb.Observer] feeds it
}

// An ID names a metric: it is its index in the catalogue.
type ID int

// The metrics.
const (
	LeaseHeld ID = iota
	LeaseUncertain
	LeaseOverrunning
	LeaseAttempts
	LeaseRenewals
	RenewalDuration
	ValidityRemaining
	ValidityRatio
	LeaseLosses
	LeaseReleases
	TakeoverDelay
	DrainDuration
	GuardChecks
	GuardStaleness
	TokenRegressions
	StoreIncarnation
	SuspendTime
)

// All returns the catalogue, in the order of the IDs. The caller may change what it got.
func All() []Metric {
	all := make([]Metric, len(catalogue))
	for i, m := range catalogue {
		m.ID = ID(i)
		m.Labels, m.Bounds = slices.Clone(m.Labels), slices.Clone(m.Bounds)
		for j := range m.Labels {
			m.Labels[j].Values = slices.Clone(m.Labels[j].Values)
		}
		all[i] = m
	}
	return all
}

var (
	namespace   = Label{Name: "namespace"}
	leaseClass  = Label{Name: "lease_class"}
	table       = Label{Name: "table"}
	incarnation = Label{Name: "incarnation"} // one at a time for each namespace: the latest

	attemptOutcome = Label{"outcome", []string{"granted", "busy", "delayed", "error", "not_sent", "unknown", Other}}
	renewOutcome   = Label{"outcome", []string{"ok", "superseded", "expired", "released", "not_sent", "ambiguous", Other}}
	lossReason     = Label{"reason", []string{"expired", "unreachable", "superseded", "released", "ambiguous", "panicked", Other}}
	releaseOutcome = Label{"outcome", []string{"released", "skipped", "failed", Other}}
	drainResult    = Label{"result", []string{inTime, overrun}}
	decision       = Label{"decision", []string{
		"accepted", raised, "stale", "conflict", missing, malformed, "not_granted", "wrong_resource", notFound, "failed", Other}}
	source = Label{"source", []string{"client", "guard", "lease", "witness", Other}}
)

// The values of labels that stand for something else than a word of package fencedb.
const (
	raised    = "raised"    // a raise that was accepted
	missing   = "missing"   // there was no token: the caller skips the lease
	malformed = "malformed" // a token, but none that was ever granted
	notFound  = "not_found" // the token was good and there was no row
	inTime    = "in_time"   // the work returned before anybody had to say that it had not
	overrun   = "overrun"   // the lease was over before the work was
)

// seconds are for what the usual lease of 15 s is made of.
var seconds = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 15, 30, 60, 120}

// requests are for the round trip of one statement.
var requests = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// grants counts grants in powers of four.
var grants = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144}

var catalogue = [...]Metric{
	LeaseHeld: {
		Name: "fence.lease.held", Prometheus: "fence_lease_held", Unit: "{lease}", Kind: UpDown,
		Labels:  []Label{namespace, leaseClass},
		Help:    "Leases that this process holds.",
		Receipt: "Grant, End",
	},
	LeaseUncertain: {
		Name: "fence.lease.uncertain", Prometheus: "fence_lease_uncertain", Unit: "{lease}", Kind: UpDown,
		Labels:  []Label{namespace, leaseClass},
		Help:    "Held leases of which it is not certain that they are held, so that no new work begins under them.",
		Receipt: "Grant, End; read from Lease.Uncertain",
	},
	LeaseOverrunning: {
		Name: "fence.lease.overrunning", Prometheus: "fence_lease_overrunning", Unit: "{lease}", Kind: UpDown,
		Labels:  []Label{namespace, leaseClass},
		Help:    "Leases that are over and not released, since their work has not returned.",
		Receipt: "End with WorkStillRunning",
	},
	LeaseAttempts: {
		Name: "fence.lease.acquire.attempts", Prometheus: "fence_lease_acquire_attempts_total", Unit: "{attempt}", Kind: Counter,
		Labels:  []Label{namespace, attemptOutcome},
		Help:    "Requests for a grant, by how they were answered.",
		Receipt: "Attempt",
	},
	LeaseRenewals: {
		Name: "fence.lease.renewals", Prometheus: "fence_lease_renewals_total", Unit: "{renewal}", Kind: Counter,
		Labels:  []Label{namespace, renewOutcome},
		Help:    "Renewals, by how they were answered.",
		Receipt: "Renew",
	},
	RenewalDuration: {
		Name: "fence.lease.renewal.duration", Prometheus: "fence_lease_renewal_duration_seconds", Unit: "s", Kind: Histogram,
		Labels: []Label{namespace}, Bounds: requests,
		Help:    "Time from a renewal's request to its answer, or until it was given up, without those that were not sent.",
		Receipt: "Renew",
	},
	ValidityRemaining: {
		Name: "fence.lease.validity.remaining", Prometheus: "fence_lease_validity_remaining_seconds", Unit: "s", Kind: Gauge,
		Labels:  []Label{namespace},
		Help:    "Time until the first of the conservative deadlines of the valid leases that this process holds.",
		Receipt: "Grant, End; read from Lease.Remaining",
	},
	ValidityRatio: {
		Name: "fence.lease.validity.ratio", Prometheus: "fence_lease_validity_ratio", Unit: "1", Kind: Gauge,
		Labels:  []Label{namespace},
		Help:    "Smallest part that is left of the time that a valid lease had after its last renewal or grant, from 0 to 1.",
		Receipt: "Grant, Renew, End; read from Lease.Remaining",
	},
	LeaseLosses: {
		Name: "fence.lease.losses", Prometheus: "fence_lease_losses_total", Unit: "{lease}", Kind: Counter,
		Labels:  []Label{namespace, lossReason},
		Help:    "Leases that were over before their work was, by the reason.",
		Receipt: "End",
	},
	LeaseReleases: {
		Name: "fence.lease.releases", Prometheus: "fence_lease_releases_total", Unit: "{lease}", Kind: Counter,
		Labels:  []Label{namespace, releaseOutcome},
		Help:    "Leases whose work has returned, by what became of the release.",
		Receipt: "End",
	},
	TakeoverDelay: {
		Name: "fence.lease.takeover.delay", Prometheus: "fence_lease_takeover_delay_seconds", Unit: "s", Kind: Histogram,
		Labels: []Label{namespace}, Bounds: seconds,
		Help:    "Time from the expiry of the grant before to the start of the work, where the grant before expired.",
		Receipt: "Grant",
	},
	DrainDuration: {
		Name: "fence.lease.drain.duration", Prometheus: "fence_lease_drain_duration_seconds", Unit: "s", Kind: Histogram,
		Labels: []Label{namespace, drainResult}, Bounds: seconds,
		Help:    "Time from when work was told to stop to when it returned.",
		Receipt: "End",
	},
	GuardChecks: {
		Name: "fence.guard.checks", Prometheus: "fence_guard_checks_total", Unit: "{check}", Kind: Counter,
		Labels:  []Label{table, decision},
		Help:    "Comparisons of a token by a guard or a row, by the decision.",
		Receipt: "Decision",
	},
	GuardStaleness: {
		Name: "fence.guard.staleness", Prometheus: "fence_guard_stale_token_lag", Unit: "{token}", Kind: Histogram,
		Labels: []Label{table}, Bounds: grants,
		Help:    "How many tokens of the namespace a stale token was behind the one that is known; another incarnation is 2^48.",
		Receipt: "Decision",
	},
	TokenRegressions: {
		Name: "fence.token.regressions", Prometheus: "fence_token_regressions_total", Unit: "{grant}", Kind: Counter,
		Labels:  []Label{namespace, source},
		Help:    "Grants that were refused, or given back, since their token is not above one that is known, by who knows it.",
		Receipt: "Attempt or End with a *RegressionError",
	},
	StoreIncarnation: {
		Name: "fence.store.incarnation", Prometheus: "fence_store_incarnation_info", Unit: "", Kind: Gauge,
		Labels:  []Label{namespace, incarnation},
		Help:    "Always 1; the label is the latest incarnation of the namespace's counter that this process was granted a token of.",
		Receipt: "Grant",
	},
	SuspendTime: {
		Name: "fence.clock.suspend.time", Prometheus: "fence_clock_suspend_seconds_total", Unit: "s", Kind: Counter,
		Help:    "Time for which the system is known to have been suspended while this process held a lease.",
		Receipt: "Uncertain with Cause suspend",
	},
}
