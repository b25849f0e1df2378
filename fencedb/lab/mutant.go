package lab

import (
	"slices"
	"strings"

	"github.com/fencelint/fence/fencedb/protocol"
)

// A Mutant breaks one rule on purpose, to show that the lab would see it if production did.
type Mutant struct {
	Name     string
	Says     string
	Scenario string // in which it is caught
	Seeds    uint64 // within which it is

	change func([]protocol.Rule) []protocol.Rule // of the holder's rules

	noBound        bool // the holder counts on the whole TTL
	unfenced       bool // the resource compares nothing
	equalOnly      bool // the resource takes the first writer's token and no other
	noRaise        bool // the guard is not raised before the work
	checkThenApply bool // the resource compares first and writes later
	silent         bool // the resource rejects without a receipt
	drawEarly      bool // the coordinator draws the token before it has the lock
	perLease       bool // the counter is deleted with the lease
	renewAny       bool // a renewal does not say which grant it is of
	restoreOnly    bool // a restore starts no incarnation
	resourceOnly   bool // nobody raises the guard of a resource that was restored
}

// Mutants are all that there are, sorted by name.
var Mutants = []*Mutant{
	{Name: "check-then-apply", Says: "the resource compares the token first and writes later, not in one step", Scenario: "late-writes", Seeds: 500, checkThenApply: true},
	{Name: "counter-per-lease", Says: "a release deletes the lease, and its counter with it", Scenario: "release-and-renew", Seeds: 100, perLease: true},
	{Name: "deadline-from-reply", Says: "the holder counts its deadline from when the answer came, not from when it asked", Scenario: "late-replies", Seeds: 2000, change: fromReply},
	{Name: "equal-without-raise", Says: "the resource accepts the token of its first writer, and no other", Scenario: "late-writes", Seeds: 100, equalOnly: true, noRaise: true},
	{Name: "no-drift-bound", Says: "the holder counts on the whole TTL, as if clocks were perfect", Scenario: "clock-drift", Seeds: 2000, noBound: true},
	{Name: "no-raise", Says: "the resource accepts what is not below the largest token it has seen, and nobody raises it before the work", Scenario: "late-writes", Seeds: 1000, noRaise: true},
	{Name: "release-before-drain", Says: "a holder that is told to stop releases at once, not when its work has returned", Scenario: "release-and-renew", Seeds: 500, change: releaseFirst},
	{Name: "renew-any-grant", Says: "a renewal names the lease and not the grant", Scenario: "release-and-renew", Seeds: 1000, renewAny: true},
	{Name: "resource-restored-unraised", Says: "the resource is restored from a snapshot and its guard is not raised", Scenario: "resource-restore", Seeds: 500, resourceOnly: true},
	{Name: "restore-without-incarnation", Says: "the coordinator is restored from a snapshot and goes on as if nothing had happened", Scenario: "restore", Seeds: 500, restoreOnly: true},
	{Name: "silent-rejection", Says: "the resource rejects without a receipt", Scenario: "late-writes", Seeds: 100, silent: true},
	{Name: "token-before-lock", Says: "the coordinator draws the token before it has the lease's lock", Scenario: "release-and-renew", Seeds: 1000, drawEarly: true},
	{Name: "unfenced", Says: "the resource compares nothing", Scenario: "late-writes", Seeds: 500, unfenced: true},
}

// none breaks nothing.
var none = &Mutant{}

// LookupMutant returns the mutant with a name; the empty name is of none, which breaks no rule.
// An unknown one is an [*InputError].
func LookupMutant(name string) (*Mutant, error) {
	if name == "" {
		return none, nil
	}
	var names []string
	for _, m := range Mutants {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return nil, &InputError{name, "there is no such mutant", "there are " + strings.Join(names, ", ")}
}

// shipped are the rules that production follows.
var shipped = protocol.NewRules(protocol.HolderRules())

func (m *Mutant) holderRules() *protocol.Rules {
	if m.change == nil {
		return shipped
	}
	return protocol.NewRules(m.change(protocol.HolderRules()))
}

// timing is how a mutant's holders count.
func (m *Mutant) timing(l Lease) protocol.Timing {
	t := l.timing()
	if m.noBound {
		t.Drift, t.Margin = 0, 0
	}
	return t
}

// fromReply has every deadline count from when the answer came.
func fromReply(rules []protocol.Rule) []protocol.Rule {
	return effects(rules, func(e protocol.Effect) protocol.Effect {
		if e.Name != "extend from when it was sent" && e.Name != "count from when it was first asked for" {
			return e
		}
		counted := e.Apply
		e.Apply = func(h *protocol.Holder, e *protocol.Event, out []protocol.Action) []protocol.Action {
			late := *e
			late.Sent, late.Repeated = e.Now, false
			return counted(h, &late, out)
		}
		return e
	})
}

// effects changes the effects of rules.
func effects(rules []protocol.Rule, change func(protocol.Effect) protocol.Effect) []protocol.Rule {
	for i := range rules {
		do := slices.Clone(rules[i].Do)
		for k := range do {
			do[k] = change(do[k])
		}
		rules[i].Do = do
	}
	return rules
}

// releaseFirst has a holder that is told to stop release before its work has returned.
func releaseFirst(rules []protocol.Rule) []protocol.Rule {
	var release protocol.Effect
	for _, r := range rules {
		for _, e := range r.Do {
			if e.Name == "send release" {
				release = e
			}
		}
	}
	for i, r := range rules {
		if slices.Contains(r.From, protocol.Held) && r.On == protocol.StopAsked {
			rules[i].Do = append(slices.Clone(r.Do), release)
		}
	}
	return rules
}
