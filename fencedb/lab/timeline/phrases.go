package timeline

import (
	"time"

	"github.com/fencelint/fence/fencedb/lab"
	"github.com/fencelint/fence/fencedb/protocol"
)

// phrase says what a fault is, and how: its length, or by how much, comes after.
type phrase struct {
	says   string
	lasts  string // before how long it lasts
	detail string // before the detail
	after  string
}

// phrases say what the faults do to whom they happen.
var phrases = map[lab.FaultKind]phrase{
	lab.Pause:       {says: "stands still", lasts: " for ", after: ", while its clock goes on"},
	lab.Suspend:     {says: "is suspended", lasts: " for "},
	lab.Freeze:      {says: "stands still", lasts: " for ", after: ", and so does its clock"},
	lab.CutRequests: {says: "is cut off: nothing it asks reaches the coordinator", lasts: ", for "},
	lab.CutReplies:  {says: "is cut off: nothing the coordinator answers reaches it", lasts: ", for "},
	lab.CutWrites:   {says: "is cut off from the resource: its writes wait", lasts: " for "},
	lab.SlowReplies: {says: "gets the coordinator's answers later", detail: ", by ", lasts: ", for "},
	lab.ClockRate:   {says: "has a clock that is off", detail: ", by ", lasts: ", for "},
	lab.StoreRate:   {says: "has a clock that is off", detail: ", by ", lasts: ", for "},
	lab.StoreDown:   {says: "is down", lasts: " for "},
	lab.Failover:    {says: "fails over to a standby that lags", detail: " "},
	lab.Restore:     {says: "is restored from a snapshot", detail: " of ", after: " ago"},
	lab.StoreAhead:  {says: "has its clock set ahead", detail: " by "},
	lab.StoreBehind: {says: "has its clock set back", detail: " by "},
	lab.Resource:    {says: "is restored from a snapshot", detail: " of ", after: " ago"},
	lab.Break:       {says: "has its lease broken by an operator"},
	lab.Stop:        {says: "is told to stop"},
	lab.Crash:       {says: "dies, and starts again", lasts: " after "},
}

// faultSays is a fault in words.
func faultSays(kind lab.FaultKind, lasts time.Duration, detail string) string {
	p, ok := phrases[kind]
	if !ok {
		p = phrase{says: "suffers " + string(kind), lasts: ", for ", detail: ", "}
	}
	text := p.says
	if d, err := time.ParseDuration(detail); err == nil {
		detail = d.Round(time.Millisecond).String()
	}
	if detail != "" {
		text += p.detail + detail
	}
	if lasts > 0 {
		text += p.lasts + lasts.Round(time.Millisecond).String()
	}
	if detail != "" || lasts > 0 {
		text += p.after
	}
	return text
}

// A cause is what ended a holder's work.
type cause struct {
	lost bool
	says string
}

// causes are the events by which a holder loses its lease.
var causes = map[string]cause{
	protocol.Tick.String():           {true, "its time has run out by its own clock"},
	protocol.RenewNo.String():        {true, "the coordinator refuses its renewal"},
	protocol.RenewUnknown.String():   {true, "a renewal has no answer, and that is to end its work"},
	protocol.ClockJumped.String():    {true, "the system was suspended for too long"},
	protocol.RaiseRefused.String():   {true, "the guard knows a later grant"},
	protocol.WorkPanicked.String():   {true, "its work panicked"},
	protocol.AcquireGranted.String(): {true, "the grant came too late"},
}

// results say what the resource made of a token.
var results = map[string]string{
	"accepted":    "accepted",
	"raised":      "raised",
	"stale":       "rejected: stale, a later token is known",
	"not_granted": "rejected: the guard has not been raised to this token",
	"conflict":    "rejected: another grant has the same number",
}

func resultSays(result string) string {
	if text, ok := results[result]; ok {
		return text
	}
	return result
}

// answers are what is sent back.
func answers(result string) string {
	if result == "held" {
		return "another holds it"
	}
	return result
}

// article puts an operation in a sentence.
func article(op string) string {
	if op == "acquire" {
		return "a request for the lease"
	}
	return "a " + op
}

// ends says how a grant ended, in a sentence.
func ends(end string) string {
	switch end {
	case string(protocol.Expired):
		return "has expired"
	case string(protocol.Released):
		return "was released"
	}
	return "is " + end
}
