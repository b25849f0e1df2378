package timeline

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fencelint/fence/fencedb/lab"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// play plays a scenario of the lab.
func play(t testing.TB, name string, seed uint64, mutant string) (*lab.Scenario, *lab.Result, Options) {
	t.Helper()
	s, err := lab.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	if mutant == "" {
		mutant = s.Mutant
	}
	m, err := lab.LookupMutant(mutant)
	if err != nil {
		t.Fatal(err)
	}
	r := lab.Run(s, seed, lab.Options{Log: true, Mutant: m})
	return s, &r, Options{Mutant: mutant, Replay: fmt.Sprintf("fence lab run %s --seed %d", name, seed)}
}

// broken plays the first seed of a scenario in which a mutant breaks a promise.
func broken(t testing.TB, name, mutant string) (*lab.Scenario, *lab.Result, Options) {
	t.Helper()
	s, err := lab.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	m, err := lab.LookupMutant(mutant)
	if err != nil {
		t.Fatal(err)
	}
	report := lab.Explore(s, 1, m.Seeds, lab.Options{Mutant: m}, 2)
	if report.First == nil {
		t.Fatalf("%s breaks nothing in %d seeds of %s", mutant, m.Seeds, name)
	}
	return play(t, name, report.First.Seed, mutant)
}

type writer func(io.Writer, *lab.Scenario, *lab.Result, Options) error

func logOf(w io.Writer, _ *lab.Scenario, r *lab.Result, _ Options) error {
	return WriteNDJSON(w, r.Log)
}

var writers = map[string]writer{"txt": WriteReceipts, "ndjson": logOf, "mmd": WriteMermaid, "html": WriteHTML}

func written(t testing.TB, write writer, s *lab.Scenario, r *lab.Result, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b, s, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The paused owner, in all four forms.
func TestGolden(t *testing.T) {
	for ext, write := range writers {
		t.Run(ext, func(t *testing.T) {
			s, r, o := play(t, "orders-daily", 1, "")
			got := written(t, write, s, r, o)
			again, r2, _ := play(t, "orders-daily", 1, "")
			if written(t, write, again, r2, o) != got {
				t.Error("the same run gives other bytes")
			}
			golden := filepath.Join("testdata", "orders-daily."+ext)
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s is not what is printed; run the test with -update and read the diff\n%s", golden, firstDifference(got, string(want)))
			}
		})
	}
}

func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d: %s\nwant: %s", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(a), len(b))
}

// The receipts have the numbers of the story: what was granted after whom, what was sent with
// which token after which pause, and why it was rejected.
func TestReceiptsOfThePausedOwner(t *testing.T) {
	s, r, o := play(t, "orders-daily", 1, "")
	text := written(t, WriteReceipts, s, r, o)
	for _, want := range []string{
		"grant receipt\n", "write receipt\n", "decision receipt\n",
		`owner +worker-b\n +token +42\n +granted +2026-07-20T20:04:12Z`,
		`grant transaction +g_912`,
		`predecessor +token 41 of worker-a, expired`,
		`operation +order:2026-07-20\n +owner +worker-a\n +token +41`,
		`pause +19s`,
		`expected +fence >= 42\n +received +41\n +result +rejected: stale`,
		`worker-a +loses its lease, token 41`,
		`the state of 42\s+stays`,
		`No promise was broken\.`,
		`(?m)^Replay: fence lab run orders-daily --seed 1$`,
	} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
	order := []string{"grants token 41", "stands still for 19s", "grants token 42", "writes order:2026-07-20 with token 41", "REJECTS order:2026-07-20 of worker-a"}
	at := 0
	for _, part := range order {
		i := strings.Index(text[at:], part)
		if i < 0 {
			t.Fatalf("%q does not come where it should in\n%s", part, text)
		}
		at += i
	}
	if n := strings.Count(text, "\n"); n > 90 {
		t.Errorf("the story takes %d lines", n)
	}
}

// Verbose leaves nothing out: each message and each receipt of the log is told.
func TestVerboseTellsEverything(t *testing.T) {
	for _, name := range []string{"orders-daily", "storm", "restore"} {
		s, r, o := play(t, name, 3, "")
		brief := written(t, WriteReceipts, s, r, o)
		o.Verbose = true
		full := written(t, WriteReceipts, s, r, o)
		if strings.Contains(full, "  ...  ") {
			t.Errorf("%s: something is left out", name)
		}
		if len(full) <= len(brief) {
			t.Errorf("%s: verbose prints %d bytes, the story has %d", name, len(full), len(brief))
		}
		count := map[string]int{}
		for i := range r.Log {
			e := &r.Log[i]
			switch {
			case e.Kind == lab.EntrySend && e.Who != coordinator && e.Who != resource:
				count["  sends "]++
			case e.Kind == lab.EntrySend:
				count["  answers "]++
			case e.GrantReceipt != nil:
				count["grant receipt"]++
			case e.WriteReceipt != nil:
				count["write receipt"]++
			case e.DecisionReceipt != nil:
				count["decision receipt"]++
			}
		}
		for text, want := range count {
			if got := strings.Count(full, text); got != want {
				t.Errorf("%s: %d times %q, want %d", name, got, text, want)
			}
		}
	}
}

// Text of a violation says what is broken, and shows the write that did.
func TestReceiptsOfAViolation(t *testing.T) {
	s, r, o := broken(t, "late-writes", "unfenced")
	text := written(t, WriteReceipts, s, r, o)
	for _, want := range []string{`BREAKS a promise, accepted-in-order`, `decision receipt`, `write receipt`, `(?m)^BROKEN at .*: accepted-in-order`, `mutant +unfenced: the resource compares nothing`} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "No promise was broken") {
		t.Error("it says that no promise was broken")
	}
}

// The first-touch gap of row guards is told: a write that is accepted although a later token
// has been granted.
func TestReceiptsOfTheFirstTouchGap(t *testing.T) {
	gap := 0
	for seed := range uint64(30) {
		s, r, o := play(t, "first-touch", seed, "")
		gap += strings.Count(strings.Join(strings.Fields(written(t, WriteReceipts, s, r, o)), " "), "with token 1, although 2 has been granted")
	}
	if gap == 0 {
		t.Error("no seed of 30 tells it")
	}
}

// The log is what happened, one entry a line.
func TestNDJSON(t *testing.T) {
	_, r, _ := play(t, "storm", 2, "")
	var b bytes.Buffer
	if err := WriteNDJSON(&b, r.Log); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if len(lines) != len(r.Log) {
		t.Fatalf("%d lines for %d entries", len(lines), len(r.Log))
	}
	for i, text := range lines {
		var e lab.Entry
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		if e.At != r.Log[i].At || e.Kind != r.Log[i].Kind || e.Who != r.Log[i].Who {
			t.Fatalf("line %d is %s, not entry %+v", i+1, text, r.Log[i])
		}
	}
}

// mermaidLine is all that a line of a diagram may be.
var mermaidLine = regexp.MustCompile(`^(sequenceDiagram|    (accTitle|accDescr): [^;<>]*|    participant p\d+ as .+|    p\d+(->>|-->>|-x)p\d+: .+|    Note over p\d+(,p\d+)?: .+|    rect rgba\([\d., ]+\)|    end)$`)

// A diagram of any run has at most 40 messages, says what it leaves out, and has nothing in
// it that Mermaid would read as something else.
func TestMermaid(t *testing.T) {
	all, err := lab.Scenarios()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		for seed := range uint64(4) {
			s, r, o := play(t, s.Name, seed, "")
			text := written(t, WriteMermaid, s, r, o)
			checkMermaid(t, text)
			drawn := len(regexp.MustCompile(`(?m)^    p\d+(->>|-->>|-x)`).FindAllString(text, -1))
			sent := 0
			for i := range r.Log {
				if r.Log[i].Kind == lab.EntrySend {
					sent++
				}
			}
			if drawn > maxMessages {
				t.Errorf("%s, seed %d: %d messages are drawn", s.Name, seed, drawn)
			}
			left := ""
			if drawn < sent {
				left = fmt.Sprintf("%s of %d left out", plural(sent-drawn, "message"), sent)
			}
			if got := regexp.MustCompile(`\d+ messages? of \d+ left out`).FindString(text); got != left {
				t.Errorf("%s, seed %d: it says %q, want %q", s.Name, seed, got, left)
			}
		}
	}
}

func checkMermaid(t *testing.T, text string) {
	t.Helper()
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		bare := regexp.MustCompile(`#\w+;|<br/>`).ReplaceAllString(line, "_")
		if _, label, ok := strings.Cut(bare, ": "); !mermaidLine.MatchString(line) && !strings.HasPrefix(line, "    acc") || ok && strings.ContainsAny(label, ";<>#") {
			t.Errorf("line %d is no line of a diagram: %q", i+1, line)
		}
	}
}

// The messages that matter are in a diagram: the rejected write, and the grant it came after.
func TestMermaidOfThePausedOwner(t *testing.T) {
	s, r, o := play(t, "orders-daily", 1, "")
	text := written(t, WriteMermaid, s, r, o)
	for _, want := range []string{"p1->>p3: write 41: rejected", "Note over p1: 20:04:06.950Z<br/>stands still for 19s", "grants token 42 to worker-b", "expected #gt;= 42", "Note over p1: 20:04:25.950Z<br/>loses its lease"} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
}

// hostile is a scenario whose texts are made to be read as something else.
func hostile() *lab.Scenario {
	s := &lab.Scenario{
		Name: `x</title></script><script>document.title='owned'</script>`, Title: "\x1b[31mred\x1b[0m; end\nNote over p0: hi", About: `"><img src=x onerror="document.title='owned'"> %% {{.}} &lt; ` + "`\u202e\u2028",
		Start: time.Date(2026, 7, 20, 20, 4, 0, 0, time.UTC), Duration: lab.Duration(40 * time.Second), Resource: `<svg onload=1>;drop`,
		Lease: lab.Lease{TTL: lab.Duration(6 * time.Second), RenewEvery: lab.Duration(2 * time.Second), AttemptTimeout: lab.Duration(time.Second),
			Margin: lab.Duration(500 * time.Millisecond), Drift: 0.05},
		Guard:   lab.ScopeGuard,
		Workers: []lab.Worker{{Name: `a"><script>document.title='owned'</script>`}, {Name: "b\r\n    end; #1\x07", Begin: lab.Duration(time.Second)}},
		Work:    lab.Work{Every: lab.Duration(2200 * time.Millisecond), For: lab.Duration(time.Minute), Operation: `' onfocus='alert(1)' <b>` + "\x00"},
		Script:  []lab.Fault{{At: lab.Duration(6500 * time.Millisecond), Kind: lab.Pause, For: lab.Duration(19 * time.Second)}},
	}
	s.Script[0].Worker = s.Workers[0].Name
	return s
}

// hostileRun plays it.
func hostileRun(t *testing.T) (*lab.Scenario, *lab.Result, Options) {
	t.Helper()
	s := hostile()
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	r := lab.Run(s, 1, lab.Options{Log: true})
	return s, &r, Options{Replay: "fence lab run --scenario '</code><script>'"}
}

// Texts of a scenario are texts, whatever they contain.
func TestEscaping(t *testing.T) {
	s, r, o := hostileRun(t)
	page := written(t, WriteHTML, s, r, o)
	for _, bad := range []string{"<img", "alert(1)' <b>", "<svg onload", "document.title='owned'", "\x1b", "\x07", "\x00", "\u202e", "\u2028"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if n := strings.Count(page, "<script"); n != 1 {
		t.Errorf("the page has %d scripts", n)
	}
	for _, tag := range regexp.MustCompile(`<[a-z][^>]*>`).FindAllString(page, -1) {
		if regexp.MustCompile(`\son\w+\s*=`).MatchString(tag) {
			t.Errorf("the page has a handler in %s", tag)
		}
	}
	for _, verbose := range []bool{false, true} {
		o.Verbose = verbose
		text := written(t, WriteReceipts, s, r, o)
		for i, line := range strings.Split(text, "\n") {
			if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\u202e' || r == '\u2028' }) {
				t.Errorf("line %d of the text has a control character: %q", i+1, line)
			}
		}
	}
	checkMermaid(t, written(t, WriteMermaid, s, r, o))
}

// A page is small whatever the run: of every scenario, and of one that goes on for days.
func TestPageIsSmall(t *testing.T) {
	all, err := lab.Scenarios()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		for seed := range uint64(2) {
			s, r, o := play(t, s.Name, seed, "")
			if page := written(t, WriteHTML, s, r, o); len(page) >= MaxPage {
				t.Errorf("%s, seed %d: %d bytes", s.Name, seed, len(page))
			}
		}
	}
	long, err := lab.Lookup("storm")
	if err != nil {
		t.Fatal(err)
	}
	long.Duration = lab.Duration(3 * time.Hour)
	long.Name, long.About = strings.Repeat("n", 3000), strings.Repeat("long ", 2000)
	for i := range long.Workers {
		long.Workers[i].Name += strings.Repeat("w", 200)
	}
	r := lab.Run(long, 1, lab.Options{Log: true})
	page := written(t, WriteHTML, long, &r, Options{})
	if len(page) >= MaxPage {
		t.Errorf("a run of 3 hours: %d bytes", len(page))
	}
	if !regexp.MustCompile(`<p class="left">\d+ messages? and \d+ other events? that matter least are left out\.`).MatchString(page) {
		t.Error("it does not say what was left out")
	}
}

// What a page needs is in it.
func TestPageIsSelfContained(t *testing.T) {
	s, r, o := play(t, "orders-daily", 1, "")
	page := written(t, WriteHTML, s, r, o)
	for _, bad := range []string{"http://", "https://", "//cdn", "@import", "src=", "<link"} {
		rest := strings.ReplaceAll(page, "http://www.w3.org/2000/svg", "") // a name, not a place
		if strings.Contains(rest, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if !strings.Contains(page, `http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;`) && !strings.Contains(page, `http-equiv="Content-Security-Policy" content="default-src 'none'`) {
		t.Error("the page may load something")
	}
}

// item of a page, as the markup has it.
var markup = regexp.MustCompile(`<g class="i ([^"]*)" data-i="(\d+)" data-l="(\d+)" tabindex="0" role="img" aria-labelledby="r(\d+)">`)

// Each item of the timeline can have the focus, in order of time, and is named by its row in
// the table, which has more.
func TestPageMarkup(t *testing.T) {
	for _, run := range []struct{ name, mutant string }{{"orders-daily", ""}, {"storm", ""}, {"late-writes", "unfenced"}} {
		s, r, o := play(t, run.name, 2, run.mutant)
		page := written(t, WriteHTML, s, r, o)
		items := markup.FindAllStringSubmatch(page, -1)
		if len(items) != strings.Count(page, `<g class="i `) || len(items) < 20 {
			t.Fatalf("%s: %d of %d items can have the focus and have a name", run.name, len(items), strings.Count(page, `<g class="i `))
		}
		rows := regexp.MustCompile(`<tr id="r(\d+)"[^>]*><td>([^<]+)</td><td>([^<]+)</td><td>([^<]+)`).FindAllStringSubmatch(page, -1)
		named := map[string]string{} // the time of a row
		for _, row := range rows {
			if named[row[1]] != "" {
				t.Errorf("%s: two rows have the id r%s", run.name, row[1])
			}
			named[row[1]] = row[2]
		}
		last := ""
		for _, it := range items {
			if it[2] != it[4] || named[it[4]] == "" {
				t.Errorf("%s: item %s has no row", run.name, it[2])
			}
			if named[it[4]] < last {
				t.Errorf("%s: item %s at %s comes after one at %s", run.name, it[2], named[it[4]], last)
			}
			last = named[it[4]]
		}
	}
}

// A rejected write is red, in the drawing and in the table, and so is what broke a promise.
func TestPageShowsWhatIsWrong(t *testing.T) {
	s, r, o := play(t, "orders-daily", 1, "")
	page := written(t, WriteHTML, s, r, o)
	for _, want := range []string{
		`<g class="i bad mark"[^>]*><use href="#x"`, `<g class="i bad message"[^>]*><line[^>]*marker-end="url\(#headbad\)"`,
		`<tr id="r\d+" class="bad"><td>20:04:25\.\d+Z</td><td>resource</td><td>rejects order:2026-07-20 of worker-a`,
		`decision receipt - .*expected: fence &gt;= 42; received: 41`, `write receipt - .*pause: 19s`,
		`<g class="i fault"`, `<g class="i believed"`, `<g class="i counted"`, `<g class="i fence"`,
	} {
		if !regexp.MustCompile(want).MatchString(page) {
			t.Errorf("there is no %s", want)
		}
	}
	s, r, o = broken(t, "late-writes", "unfenced")
	page = written(t, WriteHTML, s, r, o)
	for _, want := range []string{`<use href="#violation"`, `<ul class="outcomes broken">`, `<g class="i bad mark"[^>]*><use href="#dot"`} {
		if !regexp.MustCompile(want).MatchString(page) {
			t.Errorf("of a violation there is no %s", want)
		}
	}
	lossy, r, o := play(t, "partition-requests", 1, "")
	if page = written(t, WriteHTML, lossy, r, o); !strings.Contains(page, `marker-end="url(#cross)"`) {
		t.Error("no lost message ends in a cross")
	}
}

// What a holder believes never outlasts what the coordinator counts, if clocks keep to the
// bound and no store forgets: the drawing shows what one-valid promises.
func TestBeliefEndsBeforeTheGrant(t *testing.T) {
	bars := 0
	for _, name := range []string{"orders-daily", "late-replies", "clock-drift", "partition-replies"} {
		for seed := range uint64(8) {
			s, r, _ := play(t, name, seed, "")
			told := tell(s, r)
			for _, b := range told.items {
				if b.form != believed {
					continue
				}
				bars++
				ok := false
				for _, c := range told.items {
					ok = ok || c.form == counted && c.who == b.who && c.token == b.token && c.at <= b.at && b.until <= c.until
				}
				if !ok {
					t.Errorf("%s, seed %d: %s believes in token %d from %v to %v, and the coordinator does not", name, seed, b.who, b.token, time.Duration(b.at), time.Duration(b.until))
				}
			}
		}
	}
	if bars < 100 {
		t.Errorf("only %d bars were compared", bars)
	}
}

var errFull = errors.New("disk full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteErrors(t *testing.T) {
	s, r, o := play(t, "orders-daily", 1, "")
	for name, write := range writers {
		if err := write(full{}, s, r, o); !errors.Is(err, errFull) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A run without a log, or with an unknown entry, is drawn as far as it is known.
func TestOddRuns(t *testing.T) {
	s, r, o := play(t, "orders-daily", 1, "")
	for _, log := range [][]lab.Entry{nil, {{Kind: "news", Who: "nobody"}}, {{Kind: lab.EntryArrive, Who: "worker-a", Peer: coordinator, Msg: 7}},
		{{Kind: lab.EntryGrant}, {Kind: lab.EntryWrite}, {Kind: lab.EntryDecision}, {Kind: lab.EntryOver, Who: "worker-a"}, {Kind: lab.EntryFault, Who: "worker-a", Op: "rain", Until: 5}}} {
		odd := *r
		odd.Log = log
		for _, write := range writers {
			written(t, write, s, &odd, o)
		}
		odd.Simulated = 0
		for _, write := range writers {
			written(t, write, s, &odd, o)
		}
	}
}

// Every fault has words.
func TestFaultsHavePhrases(t *testing.T) {
	all, err := lab.Scenarios()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		for kind := range s.Profile.Every {
			if _, ok := phrases[kind]; !ok {
				t.Errorf("%s has none", kind)
			}
		}
	}
}

// Text has a contrast of 4.5 to 1 and what is drawn of 3 to 1, in light and in dark (WCAG 2.2,
// 1.4.3 and 1.4.11).
func TestContrast(t *testing.T) {
	roots := regexp.MustCompile(`(?s):root \{(.*?)\n *\}`).FindAllStringSubmatch(pageStyle, -1)
	if len(roots) != 2 {
		t.Fatalf("%d colour schemes", len(roots))
	}
	for i, scheme := range []string{"light", "dark"} {
		colour := map[string]string{}
		for _, m := range regexp.MustCompile(`--(\w+): (#[0-9a-f]{6});`).FindAllStringSubmatch(roots[i][1], -1) {
			colour[m[1]] = m[2]
		}
		for _, pair := range []struct {
			fore, back string
			least      float64
		}{
			{"fore", "back", 4.5}, {"fore", "lane", 4.5}, {"fore", "panel", 4.5}, {"fore", "badback", 4.5},
			{"soft", "back", 4.5}, {"soft", "lane", 4.5}, {"soft", "panel", 4.5}, {"bad", "back", 4.5}, {"fence", "back", 4.5},
			{"believed", "lane", 3}, {"counted", "lane", 3}, {"counted", "back", 3}, {"fault", "lane", 3}, {"fault", "back", 3},
			{"arrow", "lane", 3}, {"arrow", "back", 3}, {"bad", "lane", 3}, {"focus", "lane", 3}, {"focus", "back", 3},
		} {
			if colour[pair.fore] == "" || colour[pair.back] == "" {
				t.Fatalf("%s has no colour %s or %s", scheme, pair.fore, pair.back)
			}
			if got := contrast(t, colour[pair.fore], colour[pair.back]); got < pair.least {
				t.Errorf("%s: %s on %s has a contrast of %.2f, less than %v", scheme, pair.fore, pair.back, got, pair.least)
			}
		}
	}
}

// contrast is that of two colours, as WCAG 2 defines it.
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	luminance := func(colour string) float64 {
		sum := 0.0
		for i, part := range []float64{0.2126, 0.7152, 0.0722} {
			n, err := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
			if err != nil {
				t.Fatal(err)
			}
			c := float64(n) / 255
			if c <= 0.04045 {
				c /= 12.92
			} else {
				c = math.Pow((c+0.055)/1.055, 2.4)
			}
			sum += part * c
		}
		return sum
	}
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}
