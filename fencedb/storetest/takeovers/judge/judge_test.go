package judge_test

import (
	"slices"
	"testing"
	"time"

	"github.com/fencelint/fence/fencedb/storetest/takeovers/journal"
	"github.com/fencelint/fence/fencedb/storetest/takeovers/judge"
)

// good is a run in which all is well: a holds r with 10, is stopped, and b takes over with 11.
func good() journal.Run {
	return journal.Run{
		Events: []journal.Event{
			{Kind: journal.Asked, Worker: "a", Resource: "r", Sent: 1, At: 5, Grant: "ga", Token: 10},
			{Kind: journal.Started, Worker: "a", Resource: "r", At: 10, Grant: "ga", Token: 10, From: 11, Until: 100},
			{Kind: journal.Wrote, Worker: "a", Resource: "r", At: 20, Token: 10, N: 1, Result: judge.Accepted},
			{Kind: journal.Renewed, Worker: "a", Resource: "r", At: 50, Token: 10, Until: 150},
			{Kind: journal.Wrote, Worker: "a", Resource: "r", At: 60, Token: 10, N: 2, Result: judge.Unknown},
			{Kind: journal.Invalid, Worker: "a", Resource: "r", At: 250, Token: 10, From: 70},
			{Kind: journal.Wrote, Worker: "a", Resource: "r", At: 260, Token: 10, N: 3, Result: "stale", Late: true},
			{Kind: journal.Returned, Worker: "a", Resource: "r", At: 270, Token: 10},
			{Kind: journal.Asked, Worker: "b", Resource: "r", Sent: 100, At: 110, Grant: "gb"},
			{Kind: journal.Asked, Worker: "b", Resource: "r", Sent: 155, At: 160, Grant: "gb", Token: 11},
			{Kind: journal.Started, Worker: "b", Resource: "r", At: 170, Grant: "gb", Token: 11, From: 171, Until: 300, Before: 10, Waited: 20},
			{Kind: journal.Wrote, Worker: "b", Resource: "r", At: 180, Token: 11, N: 1, Result: judge.Accepted},
		},
		Rows: []journal.Row{
			{Seq: 1, Raise: true, Resource: "r", Token: 10, Grant: "ga", Committed: 1},
			{Seq: 2, Resource: "r", Token: 10, Worker: "a", N: 1, Committed: 2},
			{Seq: 3, Resource: "r", Token: 10, Worker: "a", N: 2, Committed: 3},
			{Seq: 5, Raise: true, Resource: "r", Token: 11, Grant: "gb", Seen: 2, Committed: 4},
			{Seq: 6, Resource: "r", Token: 11, Worker: "b", N: 1, Committed: 5},
		},
		Faults: []journal.Fault{{Kind: judge.Stop, Worker: "a", From: 70, Until: 240}, {Kind: "kill", Worker: "b", From: 400, Until: 500}},
	}
}

func TestGood(t *testing.T) {
	v := judge.Judge(good())
	if len(v.Violations) > 0 {
		t.Errorf("violations: %v", v.Violations)
	}
	if v.Grants != 2 || !slices.Equal(v.Takeovers, []time.Duration{20}) || v.Kept != 3 || v.Stopped != 1 || v.Woken != 1 {
		t.Errorf("%+v", v)
	}
	if v.Writes[judge.Accepted] != 2 || v.Writes[judge.Unknown] != 1 || v.Writes["stale"] != 1 || v.Late["stale"] != 1 || v.Faults["kill"] != 1 {
		t.Errorf("%+v", v)
	}
}

// Each of these is the good run with one thing wrong.
func TestBad(t *testing.T) {
	for _, test := range []struct {
		name  string
		rule  judge.Rule
		spoil func(*journal.Run)
	}{
		{"two have one token", judge.Tokens, func(r *journal.Run) { r.Events[10].Token = 10 }},
		{"a token goes back", judge.Tokens, func(r *journal.Run) { r.Events[9].Token, r.Events[10].Token = 9, 9 }},
		{"a token goes back beside another resource", judge.Tokens, func(r *journal.Run) {
			r.Events = append(r.Events, journal.Event{Kind: journal.Asked, Worker: "c", Resource: "s", Sent: 200, At: 210, Grant: "gc", Token: 7})
		}},
		{"a raise goes back", judge.Tokens, func(r *journal.Run) {
			r.Rows = append(r.Rows, journal.Row{Seq: 7, Raise: true, Resource: "r", Token: 10, Grant: "ga"})
		}},
		{"a number has two grants", judge.Tokens, func(r *journal.Run) { r.Rows[3].Grant = "other" }},
		{"the predecessor is later", judge.Tokens, func(r *journal.Run) { r.Events[10].Before = 12 }},
		{"a deadline is after the successor's start", judge.Overlap, func(r *journal.Run) { r.Events[3].Until = 200 }},
		{"it is seen to be valid beside the successor", judge.Overlap, func(r *journal.Run) { r.Events[3].Until, r.Events[5].From = 200, 180 }},
		{"one that was not seen to end", judge.Overlap, func(r *journal.Run) {
			r.Events[3].Until = 200
			r.Events = slices.Delete(r.Events, 5, 8) // it was killed
		}},
		{"it is valid after its deadline", judge.Deadline, func(r *journal.Run) { r.Events[5].From = 160 }},
		{"the store refuses before the deadline", judge.Deadline, func(r *journal.Run) {
			r.Events = append(r.Events, journal.Event{Kind: journal.Refused, Worker: "a", Resource: "r", At: 120, Token: 10, Result: "expired"})
		}},
		{"a stale write is accepted", judge.StaleWrite, func(r *journal.Run) { r.Rows[2].Seq = 7 }},
		{"a stale write is numbered before the raise and comes after", judge.StaleWrite, func(r *journal.Run) { r.Rows[3].Seen = 1 }},
		{"a stale write is committed after the raise", judge.StaleWrite, func(r *journal.Run) { r.Rows[2].Committed = 9 }},
		{"a write comes before its raise", judge.StaleWrite, func(r *journal.Run) { r.Rows[4].Seq = 4 }},
		{"a write was accepted and is not there", judge.Answers, func(r *journal.Run) { r.Rows = r.Rows[:4] }},
		{"a write was rejected and is there", judge.Answers, func(r *journal.Run) { r.Rows[2].N = 3 }},
		{"a write is there twice", judge.Answers, func(r *journal.Run) { r.Rows[2].N = 1 }},
		{"a write has another token", judge.Answers, func(r *journal.Run) { r.Rows[4].Token = 12 }},
		{"it fails", judge.Failures, func(r *journal.Run) {
			r.Events = append(r.Events, journal.Event{Kind: journal.Failed, Worker: "a", Resource: "r", Result: "refused"})
		}},
		{"it tells of a lease that it never had", judge.Failures, func(r *journal.Run) { r.Events = slices.Delete(r.Events, 1, 2) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			run := good()
			test.spoil(&run)
			v := judge.Judge(run)
			if !slices.ContainsFunc(v.Violations, func(v judge.Violation) bool { return v.Rule == test.rule }) {
				t.Errorf("violations: %v; want one of %q", v.Violations, test.rule)
			}
		})
	}
}

func TestQuiet(t *testing.T) {
	for name, test := range map[string]struct {
		fault journal.Fault
		quiet int
	}{
		"another's fault":       {journal.Fault{Kind: "cut", Worker: "a", From: 150, Until: 170}, 1},
		"the new holder's":      {journal.Fault{Kind: "cut", Worker: "b", From: 140, Until: 155}, 0},
		"the store's":           {journal.Fault{Kind: "down", From: 165, Until: 200}, 0},
		"one before":            {journal.Fault{Kind: "down", From: 100, Until: 150}, 1},
		"one after":             {journal.Fault{Kind: "down", From: 170, Until: 180}, 1},
		"one that spans it all": {journal.Fault{Kind: "down", From: 1, Until: 1000}, 0},
	} {
		run := good()
		run.Faults = append(run.Faults, test.fault)
		if v := judge.Judge(run); len(v.Quiet) != test.quiet || len(v.Takeovers) != 1 {
			t.Errorf("%s: %d of %d takeovers are quiet, want %d", name, len(v.Quiet), len(v.Takeovers), test.quiet)
		}
	}
}

// A worker that returns, or is seen not to be valid, before its deadline has no lease then.
func TestReleaseEndsALease(t *testing.T) {
	run := good()
	run.Events[3].Until = 200
	run.Events[7].At = 165 // returned
	run.Events[5].At = 166
	if v := judge.Judge(run); len(v.Violations) > 0 {
		t.Errorf("violations: %v", v.Violations)
	}
}
