package timeline

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fencelint/fence/fencedb/lab"
)

// wide is how many columns text takes.
const wide = 88

// WriteReceipts writes a run as text: what happened that matters, in order, with the receipts
// of the grants, writes and decisions that show why a write was rejected, and what became of
// it all. With Options.Verbose it tells everything. Errors are of w.
func WriteReceipts(w io.Writer, s *lab.Scenario, r *lab.Result, o Options) error {
	t := tell(s, r)
	b := bufio.NewWriter(w)
	t.head(b, o)
	t.body(b, o)
	t.outcome(b, o)
	if err := b.Flush(); err != nil {
		return fmt.Errorf("writing the receipts: %w", err)
	}
	return nil
}

// head says what is played.
func (t *story) head(w io.Writer, o Options) {
	fmt.Fprintf(w, "%s\n\n", title(t.s))
	if t.s.About != "" {
		fmt.Fprintf(w, "%s\n\n", wrap(plain(t.s.About), wide, ""))
	}
	for _, f := range t.facts(o) {
		fmt.Fprintf(w, "%-9s %s\n", f.name, wrap(f.value, wide-10, strings.Repeat(" ", 10)))
	}
	fmt.Fprintln(w)
}

// title is a scenario's name and title.
func title(s *lab.Scenario) string {
	if s.Title == "" {
		return plain(s.Name)
	}
	return plain(s.Name + ": " + s.Title)
}

// facts are what has to be known of a run.
func (t *story) facts(o Options) []field {
	l := t.s.Lease
	holders := fmt.Sprintf("TTL %v, renewed every %v, margin %v, clocks within %g%%", time.Duration(l.TTL), time.Duration(l.RenewEvery), time.Duration(l.Margin), l.Drift*100)
	if l.LockDelay > 0 {
		holders += fmt.Sprintf(", lock-delay %v", time.Duration(l.LockDelay))
	}
	facts := []field{
		{"resource", fmt.Sprintf("%s, guarded by %s", plain(t.s.Resource), guardSays[t.s.Guard])},
		{"holders", holders},
		{"run", fmt.Sprintf("seed %d, %v from %s", t.r.Seed, time.Duration(t.r.Simulated).Round(time.Millisecond), t.s.Start.UTC().Format(time.RFC3339Nano))},
	}
	if o.Mutant != "" {
		says := ""
		if m, err := lab.LookupMutant(o.Mutant); err == nil {
			says = ": " + m.Says
		}
		facts = append(facts, field{"mutant", o.Mutant + says})
	}
	return facts
}

var guardSays = map[lab.GuardKind]string{
	lab.ScopeGuard: "one guard that is raised before the work",
	lab.RowGuard:   "the token in each row",
	lab.NoGuard:    "nothing",
}

// body tells what happened.
func (t *story) body(w io.Writer, o Options) {
	who := 0
	for _, lane := range lanes(t.s) {
		who = max(who, utf8.RuneCountInString(plain(lane)))
	}
	who = min(who, 24)
	at := len(t.clock(0))
	var left tally
	for i := range t.items {
		it := &t.items[i]
		if it.text == "" || !o.Verbose && (it.weight < told || it.form == message) {
			left.add(it)
			continue
		}
		left.write(w, at)
		indent := strings.Repeat(" ", at+2+who+2)
		text := plain(it.text)
		if it.bad && it.form == mark {
			verb, rest, _ := strings.Cut(text, " ")
			text = strings.ToUpper(verb) + " " + rest
		}
		fmt.Fprintf(w, "%s  %-*s  %s\n", t.clock(it.at), who, plain(it.who), wrap(text, max(40, wide-len(indent)), indent))
		if len(it.receipt) > 0 && (it.shown || o.Verbose) {
			writeReceipt(w, it)
		}
	}
	left.write(w, at)
	fmt.Fprintln(w)
}

func writeReceipt(w io.Writer, it *item) {
	fmt.Fprintf(w, "\n    %s\n", it.title)
	for _, f := range it.receipt {
		fmt.Fprintf(w, "      %-17s  %s\n", f.name, plain(f.value))
	}
	fmt.Fprintln(w)
}

// tally counts what is left out between two lines.
type tally struct {
	names  []string // in the order in which they came
	counts map[string]int
}

func (c *tally) add(it *item) {
	if it.counts == "" {
		return
	}
	if c.counts == nil {
		c.counts = map[string]int{}
	}
	if c.counts[it.counts] == 0 {
		c.names = append(c.names, it.counts)
	}
	c.counts[it.counts]++
}

func (c *tally) write(w io.Writer, indent int) {
	if len(c.names) == 0 {
		return
	}
	parts := make([]string, len(c.names))
	for i, name := range c.names {
		parts[i] = plural(c.counts[name], name)
	}
	fmt.Fprintf(w, "%*s  %s\n", indent, "...", strings.Join(parts, ", "))
	*c = tally{}
}

func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// outcome says what became of it all.
func (t *story) outcome(w io.Writer, o Options) {
	for _, text := range t.outcomes() {
		fmt.Fprintln(w, wrap(plain(text), wide, ""))
	}
	if o.Replay != "" {
		fmt.Fprintf(w, "Replay: %s\n", o.Replay)
	}
}

// maxOutcomes bounds how many rejections and losses are summed up one by one.
const maxOutcomes = 6

// outcomes are the sentences that sum a run up.
func (t *story) outcomes() []string {
	var all []string
	for n, r := range t.rejected {
		if n == maxOutcomes {
			all = append(all, fmt.Sprintf("%s more of other tokens.", plural(len(t.rejected)-n, "rejection")))
			break
		}
		d := r.receipt
		text := fmt.Sprintf("The %s of %s with token %d changed nothing", d.Operation, d.Owner, d.Received)
		if wrote := t.accepted[d.Expected]; wrote > 0 && d.Expected > d.Received {
			text += fmt.Sprintf(": the state of %d stays, of %s", d.Expected, plural(wrote, "accepted write"))
		}
		all = append(all, text+".")
	}
	for n, i := range t.lostBy {
		if n == maxOutcomes {
			all = append(all, fmt.Sprintf("%s more.", plural(len(t.lostBy)-n, "lost lease")))
			break
		}
		it := &t.items[i]
		all = append(all, fmt.Sprintf("At %s %s %s.", t.clock(it.at), it.who, it.text))
	}
	if v := t.r.Violation; v != nil {
		return append(all, fmt.Sprintf("BROKEN at %s: %s: %s. The promise: %s.", t.clock(v.At), v.Invariant, v.Says, promise(v.Invariant)))
	}
	return append(all, "No promise was broken.")
}

// promise is what an invariant says.
func promise(name string) string {
	for _, i := range lab.Invariants {
		if i.Name == name {
			return i.Says
		}
	}
	return name
}

// plain is text of a scenario without what would move a terminal's cursor or break a line.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\u2028' || r == '\u2029' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' {
			return ' '
		}
		return r
	}, text)
}

// wrap breaks lines between words; all but the first begin with indent.
func wrap(text string, width int, indent string) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+n > width:
			b.WriteString("\n" + indent)
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}
