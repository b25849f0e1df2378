// Package judge decides whether a run kept what fencedb promises.
package judge

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"time"

	"github.com/fencelint/fence/fencedb/storetest/takeovers/journal"
)

// A Rule is what a run has to keep.
type Rule string

// The rules.
const (
	// Tokens: one grant has one token, and each is larger than every one that was known
	// before the grant was asked for, and than the one before of its resource.
	Tokens Rule = "tokens"
	// Overlap: no two leases of a resource are valid at one instant.
	Overlap Rule = "overlap"
	// Deadline: no lease is valid after its deadline, nor refused before.
	Deadline Rule = "deadline"
	// StaleWrite: after the raise of a token no write of a lower one is accepted, and no write
	// of a token before its raise.
	StaleWrite Rule = "stale write"
	// Answers: what was accepted is there, and what was rejected is not.
	Answers Rule = "answers"
	// Failures: nothing failed in a way that no fault explains.
	Failures Rule = "failures"
)

// A Violation is a rule that a run did not keep.
type Violation struct {
	Rule Rule
	What string
}

// String returns the rule and what happened.
func (v Violation) String() string { return string(v.Rule) + ": " + v.What }

// A Verdict is what was made of a run.
type Verdict struct {
	Violations []Violation

	Grants    int             // under which work has started
	Takeovers []time.Duration // of grants whose predecessor had expired: how long the work had to wait from then on, sorted
	Quiet     []time.Duration // those of them in which neither the store nor the new holder had a fault
	Writes    map[string]int  // by result
	Late      map[string]int  // those that were sent after the work's context had ended
	Kept      int             // writes that the store has
	Faults    map[string]int  // by kind
	Stopped   int             // leases that were valid when their process was stopped
	Woken     int             // of those, leases that were not valid any more after it
}

// Judge judges a run.
func Judge(run journal.Run) Verdict {
	c := &court{run: run, leases: make(map[int64]*lease), grants: make(map[int64]string),
		verdict: Verdict{Writes: make(map[string]int), Late: make(map[string]int), Faults: make(map[string]int)}}
	c.readEvents()
	c.readRows()
	c.tokens()
	c.overlaps()
	c.rows()
	c.answers()
	c.faults()
	slices.Sort(c.verdict.Takeovers)
	slices.Sort(c.verdict.Quiet)
	return c.verdict
}

// A lease is what is known of one grant under which work has started.
type lease struct {
	resource, worker string
	token            int64
	started, from    journal.Instant
	until            journal.Instant // the deadline, as far as it is known
	seen             journal.Instant // the last time that it was seen to be valid
	invalid          journal.Instant // the first time that it was seen not to be
	returned         journal.Instant
}

// end returns until when the lease was certainly valid.
func (l *lease) end() journal.Instant {
	end := l.until
	for _, other := range []journal.Instant{l.invalid, l.returned} {
		if other != 0 {
			end = min(end, other)
		}
	}
	return max(end, l.seen)
}

type court struct {
	run     journal.Run
	leases  map[int64]*lease // by token, valid or not
	grants  map[int64]string // by token: the grant's id
	verdict Verdict
}

func (c *court) violated(rule Rule, format string, args ...any) {
	c.verdict.Violations = append(c.verdict.Violations, Violation{rule, fmt.Sprintf(format, args...)})
}

// known takes in that a token is of a grant.
func (c *court) known(token int64, grant string) {
	if other, ok := c.grants[token]; ok && other != grant {
		c.violated(Tokens, "%d is of the grants %s and %s", token, other, grant)
	}
	c.grants[token] = grant
}

func (c *court) readEvents() {
	for _, e := range c.run.Events {
		l := c.leases[e.Token]
		switch e.Kind {
		case journal.Asked:
			if e.Token != 0 {
				c.known(e.Token, e.Grant)
			}
			continue
		case journal.Started:
			c.known(e.Token, e.Grant)
			c.verdict.Grants++
			if e.Before != 0 {
				c.verdict.Takeovers = append(c.verdict.Takeovers, e.Waited)
				if !c.disturbed(e) {
					c.verdict.Quiet = append(c.verdict.Quiet, e.Waited)
				}
				if e.Before >= e.Token {
					c.violated(Tokens, "%d of %s was granted after %d", e.Token, e.Resource, e.Before)
				}
			}
			if l != nil {
				c.violated(Tokens, "%d was started by %s and by %s", e.Token, l.worker, e.Worker)
			}
			c.leases[e.Token] = &lease{resource: e.Resource, worker: e.Worker, token: e.Token, started: e.At, from: e.From, until: e.Until}
			continue
		case journal.Failed:
			c.violated(Failures, "%s of %s: %s", e.Resource, e.Worker, e.Result)
			continue
		}
		if e.Token == 0 {
			continue
		}
		if l == nil && (e.Kind == journal.Renewed || e.Kind == journal.Refused) {
			continue // while the guards were being raised
		}
		if l == nil {
			c.violated(Failures, "%s tells of %s, %d, which it has not started", e.Worker, e.Kind, e.Token)
			continue
		}
		switch e.Kind {
		case journal.Renewed:
			l.until = max(l.until, e.Until)
		case journal.Refused:
			if l.from != 0 && e.At < l.until {
				c.violated(Deadline, "%d of %s was refused (%s) by the store %v before its deadline", l.token, l.resource, e.Result, time.Duration(l.until-e.At))
			}
		case journal.Invalid:
			l.invalid, l.seen = e.At, e.From
			if l.seen > l.until {
				c.violated(Deadline, "%d of %s was valid %v after its deadline", l.token, l.resource, time.Duration(l.seen-l.until))
			}
		case journal.Returned:
			l.returned = e.At
		case journal.Wrote:
			c.verdict.Writes[e.Result]++
			if e.Late {
				c.verdict.Late[e.Result]++
			}
		}
	}
}

// disturbed tells whether the store, or who took over, had a fault meanwhile.
func (c *court) disturbed(e journal.Event) bool {
	return slices.ContainsFunc(c.run.Faults, func(f journal.Fault) bool {
		return (f.Worker == "" || f.Worker == e.Worker) && f.From < e.At && f.Until > e.At.Add(-e.Waited)
	})
}

func (c *court) readRows() {
	slices.SortStableFunc(c.run.Rows, func(a, b journal.Row) int { return cmp.Compare(a.Seq, b.Seq) })
	for _, r := range c.run.Rows {
		if r.Raise {
			c.known(r.Token, r.Grant)
		} else {
			c.verdict.Kept++
		}
	}
}

// tokens looks at the order of grants. A grant that was answered before another was asked
// for the first time is the earlier one.
func (c *court) tokens() {
	value := make(map[string]int64)
	for token, grant := range c.grants {
		value[grant] = token
	}
	sent, answered := make(map[string]journal.Instant), make(map[string]journal.Instant)
	for _, e := range c.run.Events {
		if e.Kind != journal.Asked {
			continue
		}
		if at, ok := sent[e.Grant]; !ok || e.Sent < at {
			sent[e.Grant] = e.Sent
		}
		if at, ok := answered[e.Grant]; e.Token != 0 && (!ok || e.At < at) {
			answered[e.Grant] = e.At
		}
	}
	byAnswer := slices.SortedFunc(maps.Keys(answered), func(a, b string) int { return cmp.Compare(answered[a], answered[b]) })
	bySent := slices.SortedFunc(maps.Keys(sent), func(a, b string) int { return cmp.Compare(sent[a], sent[b]) })
	largest, next := int64(0), 0
	for _, grant := range bySent {
		for ; next < len(byAnswer) && answered[byAnswer[next]] < sent[grant]; next++ {
			largest = max(largest, value[byAnswer[next]])
		}
		if token := value[grant]; token != 0 && token <= largest {
			c.violated(Tokens, "%d was granted to a request that was sent when %d was known", token, largest)
		}
	}
}

// overlaps looks for leases of one resource that were valid at one instant.
func (c *court) overlaps() {
	valid := make(map[string][]*lease)
	for _, l := range c.leases {
		if l.from != 0 && l.from < l.end() {
			valid[l.resource] = append(valid[l.resource], l)
		}
	}
	for resource, all := range valid {
		slices.SortFunc(all, func(a, b *lease) int { return cmp.Compare(a.from, b.from) })
		longest := all[0]
		for _, l := range all[1:] {
			if l.from < longest.end() {
				c.violated(Overlap, "%s: %d of %s was valid until %v after %d of %s had become valid", resource,
					longest.token, longest.worker, time.Duration(min(longest.end(), l.end())-l.from), l.token, l.worker)
			}
			if l.token < longest.token {
				c.violated(Tokens, "%s: %d was valid after %d", resource, l.token, longest.token)
			}
			if l.end() > longest.end() {
				longest = l
			}
		}
	}
}

// rows looks at what the store kept, in its order.
func (c *court) rows() {
	current := make(map[string]journal.Row)
	writes := make(map[string][]journal.Row)
	for _, r := range c.run.Rows {
		last := current[r.Resource]
		switch {
		case r.Raise && r.Token < last.Token:
			c.violated(Tokens, "%s was raised to %d after %d", r.Resource, r.Token, last.Token)
		case r.Raise:
			current[r.Resource] = r
		case r.Token < last.Token:
			c.violated(StaleWrite, "%s accepted write %d of %s with token %d after it was raised to %d", r.Resource, r.N, r.Worker, r.Token, last.Token)
		case r.Token > last.Token:
			c.violated(StaleWrite, "%s accepted write %d of %s with token %d when it was raised to %d only", r.Resource, r.N, r.Worker, r.Token, last.Token)
		}
		if !r.Raise {
			writes[r.Resource] = append(writes[r.Resource], r)
		}
	}
	// The order of the rows is the one in which they got their numbers. What was committed
	// after a raise shows in what the raise itself had counted, and in the times.
	latest := make(map[string][]int64) // of the writes up to each
	for resource, all := range writes {
		slices.SortStableFunc(all, func(a, b journal.Row) int { return cmp.Compare(a.Token, b.Token) })
		var most int64
		for _, r := range all {
			most = max(most, r.Committed)
			latest[resource] = append(latest[resource], most)
		}
	}
	for _, r := range c.run.Rows {
		if !r.Raise {
			continue
		}
		all := writes[r.Resource]
		lower := sort.Search(len(all), func(i int) bool { return all[i].Token >= r.Token })
		if r.Seen >= 0 && int64(lower) != r.Seen {
			c.violated(StaleWrite, "%s has %d writes below %d, and had %d when it was raised to that", r.Resource, lower, r.Token, r.Seen)
		}
		if r.Committed != 0 && lower > 0 && latest[r.Resource][lower-1] > r.Committed {
			c.violated(StaleWrite, "%s: a write below %d was committed %d µs after the raise to that", r.Resource, r.Token, latest[r.Resource][lower-1]-r.Committed)
		}
	}
}

// answers compares what workers were told with what the store has.
func (c *court) answers() {
	type write struct {
		worker string
		n      int64
	}
	kept := make(map[write]journal.Row)
	for _, r := range c.run.Rows {
		if r.Raise {
			continue
		}
		w := write{r.Worker, r.N}
		if _, twice := kept[w]; twice {
			c.violated(Answers, "write %d of %s is there twice", r.N, r.Worker)
		}
		kept[w] = r
	}
	for _, e := range c.run.Events {
		if e.Kind != journal.Wrote {
			continue
		}
		r, there := kept[write{e.Worker, e.N}]
		switch {
		case there && (r.Token != e.Token || r.Resource != e.Resource):
			c.violated(Answers, "write %d of %s was sent with %d of %s and is there with %d of %s", e.N, e.Worker, e.Token, e.Resource, r.Token, r.Resource)
		case e.Result == Accepted && !there:
			c.violated(Answers, "write %d of %s with %d was accepted and is not there", e.N, e.Worker, e.Token)
		case e.Result != Accepted && e.Result != Unknown && there:
			c.violated(Answers, "write %d of %s with %d was rejected (%s) and is there", e.N, e.Worker, e.Token, e.Result)
		}
	}
}

// The results of writes that say what became of them.
const (
	Accepted = "accepted"
	Unknown  = "failed" // it may be there or not
)

// faults looks at what was done.
func (c *court) faults() {
	of := make(map[string][]*lease)
	for _, l := range c.leases {
		of[l.worker] = append(of[l.worker], l)
	}
	for _, f := range c.run.Faults {
		c.verdict.Faults[f.Kind]++
		if f.Kind != Stop {
			continue
		}
		for _, l := range of[f.Worker] {
			if l.from == 0 || l.from > f.From || l.end() <= f.From {
				continue
			}
			c.verdict.Stopped++
			if l.until < f.Until && l.invalid >= f.Until {
				c.verdict.Woken++
			}
		}
	}
}

// Stop is the kind of the fault that stops a process for a while.
const Stop = "stop"
