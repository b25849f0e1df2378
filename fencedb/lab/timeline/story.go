package timeline

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/fencelint/fence/fencedb/lab"
	"github.com/fencelint/fence/fencedb/protocol"
)

// A form is how an item looks in a drawing.
type form uint8

const (
	line     form = iota // it is told, and not drawn
	message              // from one lane to another
	mark                 // something at one moment
	fault                // something is wrong for a while
	counted              // the coordinator counts a grant
	believed             // its holder counts on it
	fence                // the guard accepts nothing below the token
)

// A weight says how much an item matters. Where there is no room for all, the lightest are
// left out.
type weight uint8

const (
	minute  weight = iota // a request while another holds the lease
	usual                 // a renewal, an accepted write
	notable               // a lost message, one more write rejected as the one before was
	told                  // a grant, the accepted writes beside a rejected one
	turning               // a fault, a takeover, a lease lost
	heart                 // a rejected write, a violation
)

// An item is something that happened, as people see it.
type item struct {
	at, until lab.Time // until is 0 if it is over at once
	form      form
	weight    weight
	who, peer string
	token     int64
	op        string // of a message
	answer    string // that it is
	text      string // a sentence whose subject is who
	counts    string // how it is counted where it is not told: "renewal"
	bad       bool   // a rejected write, a violation
	lost      bool   // a message that does not arrive
	title     string // of the receipt, if it has one
	receipt   []field
	shown     bool // the receipt is, by default
	exchange  int  // of a message: the item of the request that it is, or answers
	written   int  // of a message: the item of its write; 0 if it is none
	rejected  bool // a message, or a decision, whose token was
}

// A field is one line of a receipt.
type field struct{ name, value string }

// story is a run, told in order of time.
type story struct {
	s     *lab.Scenario
	r     *lab.Result
	items []item

	owners   map[string]string // of grants
	messages map[uint64]*sent
	asked    map[string]int // the last request of a worker, by operation, that arrived
	writes   map[string]int // the write of a worker that has not been sent yet
	bars     map[string]int // the open bars of workers' beliefs
	counting int            // the open bar of the grant that the coordinator counts, -1 if there is none
	grant    string         // of that
	guard    int            // the open bar of the guard, -1 if there is none
	grants   map[int64]int  // the grants of tokens
	lostBy   []int          // the items of lost leases
	accepted map[int64]int  // how many writes of a token were
	rejected []rejection
	raised   map[int64]bool
	newest   int64             // the largest token granted
	outran   map[[2]int64]bool // the tokens of accepted writes that were not the newest, and that one
}

// sent is a message, and what it carries.
type sent struct {
	item, write int
	arrivals    int
}

// rejection is a write that was rejected for the first time: the same again is no news.
type rejection struct {
	write, decision int // -1 if the log does not have it
	receipt         *lab.DecisionReceipt
}

// tell makes a story of a run.
func tell(s *lab.Scenario, r *lab.Result) *story {
	t := &story{s: s, r: r, owners: map[string]string{}, messages: map[uint64]*sent{}, asked: map[string]int{}, writes: map[string]int{}, bars: map[string]int{},
		counting: -1, guard: -1, grants: map[int64]int{}, accepted: map[int64]int{}, raised: map[int64]bool{}, outran: map[[2]int64]bool{}}
	for i := range r.Log {
		e := &r.Log[i]
		if tell := tellers[e.Kind]; tell != nil {
			tell(t, e)
		}
	}
	t.close()
	t.weigh()
	return t
}

// tellers are what the kinds of entries become.
var tellers = map[string]func(*story, *lab.Entry){
	lab.EntrySend:      (*story).send,
	lab.EntryArrive:    (*story).arrive,
	lab.EntryLoss:      (*story).loss,
	lab.EntryState:     (*story).state,
	lab.EntryValid:     (*story).valid,
	lab.EntryOver:      (*story).over,
	lab.EntryLease:     (*story).lease,
	lab.EntryGrant:     (*story).granted,
	lab.EntryWrite:     (*story).write,
	lab.EntryDecision:  (*story).decision,
	lab.EntryFault:     (*story).fault,
	lab.EntryViolation: (*story).violation,
}

func (t *story) add(it item) int {
	t.items = append(t.items, it)
	return len(t.items) - 1
}

func (t *story) send(e *lab.Entry) {
	it := item{at: e.At, form: message, who: e.Who, peer: e.Peer, token: e.Token, op: e.Op, weight: minute}
	m := &sent{write: -1}
	answer := e.Who == coordinator || e.Who == resource
	switch {
	case answer:
		it.answer = answers(e.Result)
		it.text = fmt.Sprintf("answers %s's %s: %s", e.Peer, e.Op, it.answer)
	case e.Token != 0:
		it.text = fmt.Sprintf("sends %s %s %s", e.Peer, article(e.Op), withToken(e.Token))
	default:
		it.text = fmt.Sprintf("sends %s %s", e.Peer, article(e.Op))
	}
	if w, ok := t.writes[e.Who]; ok && e.Op == "write" && !answer {
		m.write, it.written = w, w
		delete(t.writes, e.Who)
	}
	if e.Op == "renew" || e.Op == "release" {
		it.weight = usual
	}
	it.exchange = len(t.items)
	if request, ok := t.asked[e.Peer+" "+e.Op]; ok && answer {
		it.exchange = request
	}
	m.item = t.add(it)
	t.messages[e.Msg] = m
}

func (t *story) arrive(e *lab.Entry) {
	m, ok := t.messages[e.Msg]
	if !ok {
		return
	}
	m.arrivals++
	it := &t.items[m.item]
	if m.arrivals > 1 {
		t.add(item{at: e.At, who: e.Who, peer: e.Peer, token: e.Token, op: e.Op, weight: notable, counts: "repeated message",
			text: fmt.Sprintf("gets %s's %s %s time", e.Peer, e.Op, ordinal(m.arrivals))})
		return
	}
	it.until = e.At
	if e.Who == coordinator || e.Who == resource {
		t.asked[e.Peer+" "+e.Op] = m.item
	}
}

func ordinal(n int) string {
	if n == 2 {
		return "a second"
	}
	return "another"
}

func (t *story) loss(e *lab.Entry) {
	m, ok := t.messages[e.Msg]
	if !ok {
		return
	}
	it := &t.items[m.item]
	it.lost, it.counts, it.weight = true, "lost message", max(it.weight, notable)
	if m.arrivals > 0 {
		it.text += "; it arrives, and nobody answers"
		return
	}
	it.text += "; it never arrives"
	if m.write >= 0 {
		t.items[m.write].weight = max(t.items[m.write].weight, notable)
	}
}

func (t *story) state(e *lab.Entry) {
	it := item{at: e.At, who: e.Who, token: e.Token, weight: usual}
	why := causes[e.Note]
	switch e.Result {
	case protocol.Held.String():
		it.text = "holds the lease and starts its work " + withToken(e.Token)
	case protocol.Draining.String():
		switch {
		case why.lost:
			it.form, it.weight, it.text = mark, turning, "loses its lease, token "+number(e.Token)+": "+why.says
		case e.Note == protocol.WorkReturned.String():
			it.text = "has done its work, and gives the lease back"
		default:
			it.text = "ends its work: " + e.Note
		}
	case protocol.Lost.String():
		it.weight, it.text = told, "has stopped its work: its lease, token "+number(e.Token)+", is lost"
		if why.lost {
			it.form, it.weight, it.text = mark, turning, "loses its lease, token "+number(e.Token)+": "+why.says
		}
	case protocol.WasReleased.String():
		it.text = "has released token " + number(e.Token)
	case protocol.Acquiring.String():
		it.text = "wants the lease"
	case protocol.Raising.String():
		it.weight, it.text = minute, "is granted token "+number(e.Token)+" and has the guard raised before it works"
	default:
		it.text = "is " + e.Result + ": " + e.Note
	}
	i := t.add(it)
	if it.form == mark {
		t.lostBy = append(t.lostBy, i)
	}
}

// valid opens the bar of what a holder believes, or has it go on.
func (t *story) valid(e *lab.Entry) {
	t.add(item{at: e.At, who: e.Who, token: e.Token, weight: minute, text: "counts on its lease until " + t.clock(e.Until)})
	if i, ok := t.bars[e.Who]; ok && t.items[i].token == e.Token && t.items[i].until >= e.At {
		t.items[i].until = e.Until
		return
	}
	t.bars[e.Who] = t.add(item{at: e.At, until: e.Until, form: believed, who: e.Who, token: e.Token, weight: told})
}

func (t *story) over(e *lab.Entry) {
	if i, ok := t.bars[e.Who]; ok {
		t.items[i].until = min(t.items[i].until, e.At)
		delete(t.bars, e.Who)
	}
}

// lease opens the bar of what the coordinator counts, or has it go on, or ends it.
func (t *story) lease(e *lab.Entry) {
	owner := e.Who
	if o, ok := t.owners[e.Grant]; ok {
		owner = o
	}
	if t.counting >= 0 && (t.grant != e.Grant || e.Result != "") {
		t.stopCounting(e.At)
	}
	if e.Result != "" {
		t.add(item{at: e.At, who: coordinator, token: e.Token, weight: usual, text: fmt.Sprintf("ends token %s of %s: %s", number(e.Token), owner, e.Result)})
		return
	}
	it := item{at: e.At, who: coordinator, token: e.Token, weight: minute, text: fmt.Sprintf("counts token %s of %s until %s", number(e.Token), owner, t.clock(e.Until))}
	if t.counting >= 0 {
		it.counts = "renewal"
		t.items[t.counting].until = e.Until
	}
	t.add(it)
	if t.counting < 0 {
		t.counting, t.grant = t.add(item{at: e.At, until: e.Until, form: counted, who: owner, token: e.Token, weight: told}), e.Grant
	}
}

func (t *story) stopCounting(at lab.Time) {
	t.items[t.counting].until = min(t.items[t.counting].until, at)
	t.counting = -1
}

func (t *story) granted(e *lab.Entry) {
	g := e.GrantReceipt
	if g == nil {
		return
	}
	t.owners[e.Grant] = g.Owner
	t.newest = max(t.newest, g.Token)
	it := item{at: e.At, form: mark, weight: told, who: e.Who, peer: e.Peer, token: g.Token, title: "grant receipt",
		text: fmt.Sprintf("grants token %s to %s", number(g.Token), g.Owner)}
	it.receipt = []field{{"resource", g.Resource}, {"owner", g.Owner}, {"token", number(g.Token)},
		{"granted", stamp(g.CoordinatorTime) + ", by the coordinator's clock"}, {"grant transaction", g.Transaction}}
	if p := g.Predecessor; p == nil {
		it.text += ", the first holder"
		it.receipt = append(it.receipt, field{"predecessor", "none"})
	} else {
		it.text += fmt.Sprintf(": token %s of %s %s", number(p.Token), p.Owner, ends(p.End))
		it.receipt = append(it.receipt, field{"predecessor", fmt.Sprintf("token %s of %s, %s", number(p.Token), p.Owner, p.End)},
			field{"its last renewal", stamp(p.RenewalTime)})
		if p.End != string(protocol.Released) {
			it.weight = turning
		}
	}
	if request, ok := t.asked[g.Owner+" acquire"]; ok {
		t.items[request].weight = it.weight
	}
	t.grants[g.Token] = t.add(it)
}

func (t *story) write(e *lab.Entry) {
	w := e.WriteReceipt
	if w == nil {
		return
	}
	it := item{at: e.At, who: e.Who, token: w.Token, weight: minute, title: "write receipt",
		text: fmt.Sprintf("writes %s with token %s", w.Operation, number(w.Token))}
	state := "valid, by the holder's clock"
	if !w.Valid {
		state = "not valid any more"
		it.text += ", although its lease is not valid any more"
	}
	it.receipt = []field{{"resource", w.Resource}, {"operation", w.Operation}, {"owner", w.Owner}, {"token", number(w.Token)},
		{"last renewal", stamp(w.RenewalTime)}, {"lease", state}}
	if w.Pause > 0 {
		it.receipt = append(it.receipt, field{"pause", w.Pause.String()})
	}
	t.writes[e.Who] = t.add(it)
}

func (t *story) decision(e *lab.Entry) {
	d := e.DecisionReceipt
	if d == nil {
		return
	}
	it := item{at: e.At, form: mark, who: e.Who, peer: e.Peer, token: d.Received, op: e.Op, title: "decision receipt", weight: usual}
	it.receipt = []field{{"resource", d.Resource}, {"operation", d.Operation}, {"owner", d.Owner},
		{"expected", "fence >= " + number(d.Expected)}, {"received", number(d.Received)}}
	write, sending := -1, -1
	if m, ok := t.messages[e.Msg]; ok {
		write, sending = m.write, m.item
	}
	switch d.Result {
	case "raised":
		it.weight, it.counts = told, "raise"
		it.text = fmt.Sprintf("is raised to %s: it accepts nothing below from now on", number(d.Received))
		if !t.raised[d.Received] {
			t.raised[d.Received] = true
			t.openGuard(e.At, d.Received)
		}
	case "accepted":
		it.counts = "accepted write"
		it.text = fmt.Sprintf("accepts %s of %s with token %s", d.Operation, d.Owner, number(d.Received))
		t.accepted[d.Received]++
		if t.accepted[d.Received] == 1 {
			it.weight = told
		}
		if d.Received < t.newest {
			it.text += fmt.Sprintf(", although %s has been granted", number(t.newest))
			if !t.outran[[2]int64{d.Received, t.newest}] {
				t.outran[[2]int64{d.Received, t.newest}] = true
				it.weight = turning
			}
		}
	default:
		it.bad, it.rejected, it.counts, it.weight = true, true, "rejected write", notable
		it.text = fmt.Sprintf("rejects %s of %s: expected >= %s, received %s", d.Operation, d.Owner, number(d.Expected), number(d.Received))
		if e.Op == "raise" {
			it.counts = "rejected raise"
		}
	}
	it.receipt = append(it.receipt, field{"result", resultSays(d.Result)})
	it.exchange = sending
	i := t.add(it)
	if !it.bad {
		return
	}
	for _, k := range []int{write, sending} {
		if k >= 0 {
			t.items[k].bad, t.items[k].rejected = true, true
			t.items[k].weight = max(t.items[k].weight, notable)
		}
	}
	if !slices.ContainsFunc(t.rejected, func(r rejection) bool { return same(r.receipt, d) }) {
		t.rejected = append(t.rejected, rejection{write, i, d})
		for _, k := range []int{write, sending, i} {
			if k >= 0 {
				t.items[k].weight = heart
			}
		}
	}
}

// same tells whether two rejections show the same thing.
func same(a, b *lab.DecisionReceipt) bool {
	return a.Owner == b.Owner && a.Received == b.Received && a.Expected == b.Expected && a.Result == b.Result
}

func (t *story) openGuard(at lab.Time, token int64) {
	if t.s.Guard != lab.ScopeGuard {
		return
	}
	t.closeGuard(at)
	t.guard = t.add(item{at: at, form: fence, who: resource, token: token, weight: told})
}

func (t *story) closeGuard(at lab.Time) {
	if t.guard >= 0 {
		t.items[t.guard].until = at
		t.guard = -1
	}
}

func (t *story) fault(e *lab.Entry) {
	kind := lab.FaultKind(e.Op)
	it := item{at: e.At, form: fault, weight: turning, who: e.Who, op: e.Op, text: faultSays(kind, time.Duration(e.Until-e.At), e.Note)}
	if e.Until > e.At {
		it.until = min(e.Until, lab.Time(t.s.Duration))
	}
	t.add(it)
	if i, ok := t.bars[e.Who]; ok && kind == lab.Freeze && t.items[i].until > e.At {
		t.items[i].until += e.Until - e.At // its clock stands still, and so does what it believes
	}
	if kind == lab.Break && t.counting >= 0 {
		t.stopCounting(e.At)
	}
}

func (t *story) violation(e *lab.Entry) {
	t.add(item{at: e.At, form: mark, weight: heart, who: e.Who, bad: true, text: "breaks a promise, " + e.Result + ": " + e.Note})
}

// close ends what is open when the run ends.
func (t *story) close() {
	end := t.r.Simulated
	t.closeGuard(end)
	for i := range t.items {
		it := &t.items[i]
		switch {
		case it.form == fault:
			it.until = min(it.until, end)
		case it.form == counted || it.form == believed:
			it.until = max(it.at, min(it.until, end))
		case it.form == message && it.until == 0 && !it.lost:
			it.text += "; it has not arrived when the run ends"
			it.until = end
		}
	}
	if v := t.r.Violation; v != nil && !slices.ContainsFunc(t.items, func(it item) bool { return it.form == mark && it.bad && it.weight == heart && it.at == v.At }) {
		t.violation(&lab.Entry{At: v.At, Who: resource, Result: v.Invariant, Note: v.Says})
	}
}

// receipts is how many rejected writes are told with all their receipts.
const receipts = 3

// weigh decides what else is told because of the writes that were rejected.
func (t *story) weigh() {
	for n, r := range t.rejected {
		t.beside(r.decision)
		if n >= receipts {
			continue
		}
		shown := []int{r.write, r.decision}
		if g, ok := t.grants[r.receipt.Expected]; ok {
			shown = append(shown, g)
		}
		for _, i := range shown {
			if i >= 0 {
				t.items[i].shown = true
			}
		}
	}
	if v := t.r.Violation; v != nil {
		t.blame(v.At)
	}
	// What is told of an exchange is told of its messages.
	for i := range t.items {
		if it := &t.items[i]; it.form == mark && it.exchange > 0 {
			request := &t.items[it.exchange]
			request.weight = max(request.weight, it.weight)
		}
	}
	for i := range t.items {
		if it := &t.items[i]; it.form == message {
			it.weight = max(it.weight, t.items[it.exchange].weight)
		}
	}
}

// blame has what was decided at the moment of a violation told, and what was sent for it.
func (t *story) blame(at lab.Time) {
	for i := range t.items {
		it := &t.items[i]
		if it.form != mark || it.at != at || it.title == "" || it.weight < usual {
			continue
		}
		it.weight, it.shown, it.bad = heart, true, it.bad || it.op == "write"
		if it.op != "write" || it.exchange <= 0 {
			continue
		}
		sending := &t.items[it.exchange]
		sending.bad = true
		if w := sending.written; w > 0 {
			t.items[w].weight, t.items[w].shown = heart, true
		}
	}
}

// beside has the accepted writes before and after a rejected one told.
func (t *story) beside(decision int) {
	for _, step := range []int{-1, 1} {
		for i := decision + step; i >= 0 && i < len(t.items); i += step {
			if t.items[i].counts == "accepted write" {
				t.items[i].weight = max(t.items[i].weight, told)
				break
			}
		}
	}
}

// focus is the moment that matters most.
func (t *story) focus() lab.Time {
	if t.r.Violation != nil {
		return t.r.Violation.At
	}
	best := -1
	for i := range t.items {
		if best < 0 || t.items[i].weight > t.items[best].weight {
			best = i
		}
	}
	if best < 0 {
		return 0
	}
	return t.items[best].at
}

// clock is the true time of day.
func (t *story) clock(at lab.Time) string {
	layout := "15:04:05.000Z"
	if time.Duration(t.s.Duration) > 24*time.Hour {
		layout = "2006-01-02T15:04:05.000Z"
	}
	return t.s.Start.UTC().Add(time.Duration(at)).Format(layout)
}

// stamp is a time in a receipt.
func stamp(at time.Time) string {
	if at.Unix() <= 0 {
		return "never"
	}
	return at.UTC().Format("2006-01-02T15:04:05Z")
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

func withToken(n int64) string { return "with token " + number(n) }
