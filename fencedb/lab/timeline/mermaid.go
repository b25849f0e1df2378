package timeline

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/fencelint/fence/fencedb/lab"
)

// maxMessages and maxNotes bound a diagram: a larger one cannot be read.
const (
	maxMessages = 40
	maxUsual    = 20 // from how many on what is usual is left out
	maxNotes    = 30
	noteWidth   = 36 // letters
)

// WriteMermaid writes a run as a sequence diagram that GitHub and GitLab draw. At most 40
// messages are in it, those around what matters most, and it says how many were left out.
// Errors are of w.
func WriteMermaid(w io.Writer, s *lab.Scenario, r *lab.Result, o Options) error {
	t := tell(s, r)
	d := &diagram{w: bufio.NewWriter(w), ids: map[string]string{}}
	d.head(t, o)
	for _, i := range t.drawn() {
		d.item(t, &t.items[i])
	}
	d.foot(t)
	if err := d.w.Flush(); err != nil {
		return fmt.Errorf("writing the diagram: %w", err)
	}
	return nil
}

// drawn are the items of a diagram, in the order in which they are seen.
func (t *story) drawn() []int {
	keep := make([]bool, len(t.items))
	for n, i := range t.heaviest(message, maxMessages) {
		keep[i] = n < maxUsual || t.items[i].weight > usual
	}
	for _, i := range t.heaviest(mark, maxNotes) {
		keep[i] = noted(&t.items[i])
	}
	for _, i := range t.heaviest(fault, maxNotes) {
		keep[i] = true
	}
	var all []int
	for i := range t.items {
		if keep[i] {
			all = append(all, i)
		}
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(t.items[a].seen(), t.items[b].seen()) })
	return all
}

// late is from when on a message's sending and arrival are told apart.
const late = lab.Time(500 * time.Millisecond)

// seen is where a message's line belongs: where it arrives, if it is late.
func (it *item) seen() lab.Time {
	if it.form == message && !it.lost && it.until-it.at > late {
		return it.until
	}
	return it.at
}

// noted tells whether a mark has a note: an accepted write is its message.
func noted(it *item) bool {
	return it.weight >= turning
}

// heaviest returns at most n items of a form: those that matter most and, of equals, those
// nearest to the moment that does. The messages of an exchange are in it or out together.
func (t *story) heaviest(f form, n int) []int {
	var groups []int // the first items
	members := map[int][]int{}
	for i := range t.items {
		it := &t.items[i]
		if it.form != f {
			continue
		}
		first := i
		if f == message {
			first = it.exchange
		}
		if members[first] == nil {
			groups = append(groups, first)
		}
		members[first] = append(members[first], i)
	}
	focus := t.focus()
	slices.SortStableFunc(groups, func(a, b int) int { return t.order(a, b, focus) })
	var all []int
	for _, g := range groups {
		if len(all)+len(members[g]) > n {
			break
		}
		all = append(all, members[g]...)
	}
	return all
}

// order sorts items: what matters most first, and of equals what is nearest to a moment.
func (t *story) order(a, b int, focus lab.Time) int {
	x, y := &t.items[a], &t.items[b]
	return cmp.Or(cmp.Compare(y.weight, x.weight), cmp.Compare(distance(x.at, focus), distance(y.at, focus)))
}

func distance(a, b lab.Time) lab.Time { return max(a-b, b-a) }

type diagram struct {
	w        *bufio.Writer
	ids      map[string]string // of lanes
	first    string
	last     string
	messages int
}

func (d *diagram) head(t *story, o Options) {
	fmt.Fprintf(d.w, "sequenceDiagram\n    accTitle: %s\n", mermaidText(title(t.s)))
	said := fmt.Sprintf("seed %d", t.r.Seed)
	if o.Mutant != "" {
		said += ", mutant " + o.Mutant
	}
	fmt.Fprintf(d.w, "    accDescr: %s. %s\n", mermaidText(said), mermaidText(strings.Join(t.outcomes(), " ")))
	for i, name := range lanes(t.s) {
		id := fmt.Sprintf("p%d", i)
		d.ids[name] = id
		if i == 0 {
			d.first = id
		}
		d.last = id
		fmt.Fprintf(d.w, "    participant %s as %s\n", id, mermaidText(name))
	}
}

func (d *diagram) item(t *story, it *item) {
	if it.form == message {
		d.message(it)
		return
	}
	red := it.bad && it.form == mark
	if red {
		fmt.Fprint(d.w, "    rect rgba(207, 34, 46, 0.2)\n")
	}
	// Mermaid breaks no line of a note by itself.
	lines := strings.Split(wrap(plain(it.text), noteWidth, ""), "\n")
	for i := range lines {
		lines[i] = mermaidText(lines[i])
	}
	fmt.Fprintf(d.w, "    Note over %s: %s<br/>%s\n", d.ids[it.who], t.clock(it.at), strings.Join(lines, "<br/>"))
	if red {
		fmt.Fprint(d.w, "    end\n")
	}
}

func (d *diagram) message(it *item) {
	d.messages++
	label := it.op
	answer := it.who == coordinator || it.who == resource
	switch {
	case answer:
		label += ": " + it.answer
	case it.token != 0:
		label += " " + number(it.token)
	}
	arrow := "->>"
	switch {
	case it.lost:
		arrow = "-x"
		label += ", lost"
	case answer:
		arrow = "-->>"
	}
	if it.rejected && !answer {
		label += ": rejected"
	}
	if seen := it.seen(); seen > it.at {
		label += fmt.Sprintf(", sent %v before", time.Duration(seen-it.at).Round(100*time.Millisecond))
	}
	fmt.Fprintf(d.w, "    %s%s%s: %s\n", d.ids[it.who], arrow, d.ids[it.peer], mermaidText(label))
}

func (d *diagram) foot(t *story) {
	all := 0
	for i := range t.items {
		if t.items[i].form == message {
			all++
		}
	}
	if left := all - d.messages; left > 0 {
		fmt.Fprintf(d.w, "    Note over %s,%s: %s of %d left out\n", d.first, d.last, plural(left, "message"), all)
	}
}

// mermaidEscapes are what Mermaid, or the page around it, reads as its own.
var mermaidEscapes = strings.NewReplacer("#", "#35;", ";", "#59;", "<", "#lt;", ">", "#gt;", "%", "#37;", "&", "#amp;", `"`, "#quot;", "`", "#96;", "{", "#123;", "}", "#125;")

func mermaidText(text string) string {
	if text = strings.TrimSpace(mermaidEscapes.Replace(plain(text))); text != "" {
		return text
	}
	return "-"
}
