package timeline

import (
	"bytes"
	_ "embed" // the page's parts
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fencelint/fence/fencedb/lab"
)

// MaxPage is what a page of WriteHTML takes at most, in bytes.
const MaxPage = 300_000

// maxItems is how many items a page has at most. Fewer if they would not fit.
const maxItems = 700

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

//go:embed page.js
var pageScript string

// WriteHTML writes a run as one page that needs no network and no other file: a timeline with
// a lane for the coordinator, each worker and the resource, that can be pointed at, walked
// with the keyboard and zoomed, and a table of the same. A page is smaller than [MaxPage]; of
// a long run it leaves out what matters least, and says how much. Errors are of w.
func WriteHTML(w io.Writer, s *lab.Scenario, r *lab.Result, o Options) error {
	page, err := template.New("page").Parse(pageText)
	if err != nil {
		return fmt.Errorf("reading the page's template: %w", err)
	}
	t := tell(s, r)
	for n := maxItems; ; n = n * 3 / 4 {
		var b bytes.Buffer
		if err := page.Execute(&b, t.page(o, n)); err != nil {
			return fmt.Errorf("making the page: %w", err)
		}
		if b.Len() >= MaxPage && n > 0 {
			continue
		}
		if _, err := w.Write(b.Bytes()); err != nil {
			return fmt.Errorf("writing the page: %w", err)
		}
		return nil
	}
}

// page is what the template has.
type page struct {
	Title, About string
	Facts        []row
	Outcomes     []string
	Broken       bool
	Replay       string
	Left         string // what was left out
	Style        template.CSS
	Script       template.JS
	Lanes        []lane
	Height       int
	End          int64 // nanoseconds
	Start        int64 // milliseconds since 1970
	Ticks        []tick
	Items        []drawnItem
	Rows         []row
	Main         int // the row that matters most, -1 if there is none
}

// A lane is a row of the timeline.
type lane struct {
	Name   string
	Kind   string // coordinator, worker or resource
	Y, H   int
	Bottom int
}

// A tick is a mark on the axis.
type tick struct{ X, Label, Anchor string }

// A row is a line of the table, and what is shown of an item.
type row struct {
	ID              int
	Time, Who, Text string
	Receipt         string
	Class           string
}

// A drawnItem is an item in the drawing.
type drawnItem struct {
	ID, Lane int
	Shape    string // arrow, bar, mark or hatch
	Class    string
	X, X2, W string // percent
	Y, Y2, H int
	Label    string
	LabelY   int
	Narrow   bool
	Marker   string
	Symbol   string
}

// The heights of the page's lanes, and of the axis above them.
const (
	axisHeight   = 40
	workerHeight = 76
	endHeight    = 60 // of the first and the last
)

func (t *story) page(o Options, n int) *page {
	p := &page{Title: title(t.s), About: plain(t.s.About), Outcomes: t.outcomes(), Broken: t.r.Violation != nil, Replay: o.Replay, Main: -1,
		Style:  template.CSS(pageStyle), //nolint:gosec // the page's own
		Script: template.JS(pageScript), //nolint:gosec // the page's own
		End:    max(1, int64(t.r.Simulated)), Start: t.s.Start.UnixMilli()}
	for _, f := range t.facts(o) {
		p.Facts = append(p.Facts, row{Who: f.name, Text: f.value})
	}
	index := p.layout(t)
	p.Ticks = t.ticks()
	keep := t.kept(n)
	for i := range t.items {
		it := &t.items[i]
		if !keep[i] {
			continue
		}
		if it.form != line {
			p.Items = append(p.Items, t.draw(p, i, index))
		}
		if it.form == mark && (p.Main < 0 || it.weight > t.items[p.Main].weight) {
			p.Main = i
		}
		p.Rows = append(p.Rows, t.row(i))
	}
	p.Left = t.leftOut(keep)
	return p
}

// layout places the lanes, and returns them by name.
func (p *page) layout(t *story) map[string]int {
	index := map[string]int{}
	y := axisHeight
	all := lanes(t.s)
	for i, name := range all {
		l := lane{Name: plain(name), Kind: "worker", Y: y, H: workerHeight}
		switch i {
		case 0:
			l.Kind, l.H = coordinator, endHeight
		case len(all) - 1:
			l.Kind, l.H = resource, endHeight
		}
		y += l.H
		l.Bottom = y
		index[name] = i
		p.Lanes = append(p.Lanes, l)
	}
	p.Height = y + 4
	return index
}

// kept are at most n items of a page: the heaviest. Of those that matter equally and for which
// there is not room enough, it is every so many, all along the run: a part of it that looks
// idle was idle. What belongs to one exchange of messages is in it or out together.
func (t *story) kept(n int) []bool {
	keep := make([]bool, len(t.items))
	var groups [heart + 1][][]int
	index := map[int]int{} // of an exchange's group
	for i := range t.items {
		it := &t.items[i]
		if it.form == line && (it.weight < usual || it.text == "") {
			continue
		}
		w := it.weight
		if it.form == message || it.form == mark && it.exchange > 0 {
			first := it.exchange
			w = t.items[first].weight
			if k, ok := index[first]; ok && it.weight <= w {
				groups[w][k] = append(groups[w][k], i)
				continue
			}
			index[first] = len(groups[w])
		}
		groups[w] = append(groups[w], []int{i})
	}
	for w := len(groups) - 1; w >= 0; w-- {
		size := 0
		for _, g := range groups[w] {
			size += len(g)
		}
		for k, g := range groups[w] {
			if size > n && k*n/size == (k+1)*n/size {
				continue
			}
			for _, i := range g {
				keep[i] = true
			}
		}
		n = max(0, n-size)
	}
	return keep
}

// leftOut says what a page does not have.
func (t *story) leftOut(keep []bool) string {
	messages, others := 0, 0
	for i := range t.items {
		switch it := &t.items[i]; {
		case keep[i] || it.form == line && it.weight < usual:
		case it.form == message:
			messages++
		default:
			others++
		}
	}
	switch {
	case messages+others == 0:
		return ""
	case others == 0:
		return plural(messages, "message") + " that matter least are left out."
	}
	return fmt.Sprintf("%s and %s that matter least are left out.", plural(messages, "message"), plural(others, "other event"))
}

func (t *story) row(i int) row {
	it := &t.items[i]
	r := row{ID: i, Time: t.clock(it.at), Who: plain(it.who), Text: plain(it.says(t))}
	if it.until-it.at > late && it.form == message && !it.lost {
		r.Text += fmt.Sprintf("; it arrives %v later", time.Duration(it.until-it.at).Round(time.Millisecond))
	}
	from := it
	if it.written > 0 && it.bad {
		from = &t.items[it.written]
	}
	if from.title != "" && (it.bad || it.form == mark && it.peer != "" && it.who == coordinator) {
		r.Receipt = receiptLine(from)
	}
	if it.bad {
		r.Class = "bad"
	}
	return r
}

// says is an item's sentence; bars have none of their own.
func (it *item) says(t *story) string {
	switch it.form {
	case counted:
		return fmt.Sprintf("holds token %s, as the coordinator counts, until %s", number(it.token), t.clock(it.until))
	case believed:
		return fmt.Sprintf("believes that its lease, token %s, is valid until %s", number(it.token), t.clock(it.until))
	case fence:
		return fmt.Sprintf("accepts no token below %s until %s", number(it.token), t.clock(it.until))
	}
	return it.text
}

func receiptLine(it *item) string {
	parts := make([]string, len(it.receipt))
	for i, f := range it.receipt {
		parts[i] = f.name + ": " + plain(f.value)
	}
	return it.title + " - " + strings.Join(parts, "; ")
}

// percent is where a time is on the axis. Something is left free at both ends.
func (t *story) percent(at lab.Time) string {
	return strconv.FormatFloat(2+96*float64(at)/float64(max(1, t.r.Simulated)), 'f', 5, 64) + "%"
}

// width is how wide a bar is: never so narrow that it is not seen.
func (t *story) width(from, to lab.Time) string {
	return strconv.FormatFloat(max(0.08, 96*float64(to-from)/float64(max(1, t.r.Simulated))), 'f', 5, 64) + "%"
}

// anchors are where messages leave and reach a lane, counted from its top.
var anchors = map[string]int{coordinator: 44, "worker": 40, resource: 16}

func (t *story) draw(p *page, i int, index map[string]int) drawnItem {
	it := &t.items[i]
	l := &p.Lanes[index[it.who]]
	d := drawnItem{ID: i, Lane: index[it.who], X: t.percent(it.at)}
	var class []string
	if it.bad {
		class = append(class, "bad")
	}
	switch it.form {
	case message:
		to := &p.Lanes[index[it.peer]]
		d.Shape, d.Marker = "arrow", "head"
		d.Y, d.Y2 = l.Y+anchors[l.Kind], to.Y+anchors[to.Kind]
		arrives := max(it.at, it.until)
		switch {
		case it.lost && it.until == 0:
			d.Y2, d.Marker = (d.Y+d.Y2)/2, "cross"
			class = append(class, "lost")
		case it.lost:
			d.Marker = "cross"
			class = append(class, "lost")
		}
		if it.bad {
			d.Marker = "headbad"
		}
		if it.who == coordinator || it.who == resource {
			class = append(class, "answer")
		}
		d.X2 = t.percent(arrives)
		class = append(class, "message")
		if it.weight <= usual {
			class = append(class, "usual")
		}
	case counted, believed:
		d.Shape, d.H, d.Y, d.W = "bar", 14, l.Y+22, t.width(it.at, it.until)
		d.Label, d.LabelY = shortToken(it.token), l.Y+16
		class = append(class, "believed")
		if it.form == counted {
			d.Y, d.Label = l.Y+44, ""
			class[len(class)-1] = "counted"
		}
		d.Narrow = t.narrow(it, d.Label)
	case fence:
		d.Shape, d.H, d.Y, d.W = "bar", 12, l.Y+32, t.width(it.at, it.until)
		d.Label, d.LabelY = ">= "+shortToken(it.token), l.Y+57
		d.Narrow = t.narrow(it, d.Label)
		class = append(class, "fence")
	case fault:
		d.Shape, d.Y, d.H, d.W = "hatch", l.Y+3, l.H-6, t.width(it.at, max(it.at, it.until))
		d.Label, d.LabelY = it.op, l.Bottom-6
		d.Narrow = t.narrow(it, d.Label)
		class = append(class, "fault")
		if it.until == 0 {
			class = append(class, "once")
		}
	default:
		d.Shape = "mark"
		d.Symbol, d.Y = t.symbol(it, l)
		class = append(class, "mark")
		if it.peer != "" && it.who == coordinator {
			d.Label, d.LabelY = shortToken(it.token), l.Y+17
			class = append(class, "grant")
		}
	}
	d.Class = strings.Join(class, " ")
	return d
}

// shortToken is a token's last digits: after an incarnation, tokens have fifteen and more.
func shortToken(n int64) string {
	text := number(n)
	if len(text) <= 9 {
		return text
	}
	return "\u2026" + text[len(text)-6:]
}

// symbol is the sign of something that happens at once, and where it is.
func (t *story) symbol(it *item, l *lane) (name string, y int) {
	switch {
	case it.title == "" && it.bad:
		return "violation", l.Y + 38
	case l.Kind == coordinator:
		return "diamond", l.Y + 32
	case l.Kind == "worker":
		return "end", l.Y + 40
	case it.rejected:
		return "x", l.Y + 20
	case it.op == "raise":
		return "up", l.Y + 20
	}
	return "dot", l.Y + 20
}

// drawnWidth is how wide the timeline is taken to be before a browser knows better.
const drawnWidth = 1000

// narrow tells whether a bar's label does not fit it.
func (t *story) narrow(it *item, label string) bool {
	return float64(it.until-it.at)/float64(max(1, t.r.Simulated))*drawnWidth < float64(8*utf8.RuneCountInString(label))
}

// steps are how far apart ticks may be.
var steps = []time.Duration{
	time.Microsecond, 10 * time.Microsecond, 100 * time.Microsecond, time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond,
	20 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second,
	5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute,
	30 * time.Minute, time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 48 * time.Hour, 120 * time.Hour,
}

// anchor is where the label at a part of the axis begins, so that none is cut off.
func anchor(part float64) string {
	switch {
	case part < 0.02:
		return "start"
	case part > 0.97:
		return "end"
	}
	return "middle"
}

// ticks are the marks of the axis. The script draws others when it zooms.
func (t *story) ticks() []tick {
	end := time.Duration(t.r.Simulated)
	step := steps[len(steps)-1]
	for _, s := range steps {
		if end/s <= 10 {
			step = s
			break
		}
	}
	var all []tick
	for at := time.Duration(0); at <= end; at += step {
		all = append(all, tick{t.percent(lab.Time(at)), at.String(), anchor(float64(at) / float64(max(1, end)))})
	}
	return all
}
