package electors

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var update = flag.Bool("update", false, "rewrite the table of docs/compared.md")

// An elector is a row of the comparison.
type elector struct {
	name     string
	module   string // whose version the row is about; empty for what is in this repository
	request  string // for how long it waits for the answer to a renewal
	overlaps bool   // two candidates may believe at once that they are the leader
	real     bool   // in real time: its candidates speak to a server over TCP
	open     func(t *testing.T) func() campaign
}

var electors = []elector{
	{name: "fencedb.Hold", request: "3 s", open: holds{}.open},
	{name: "fencedb.Hold, both clocks wrong by 5 %", request: "3 s", open: holds{holder: 0.95, coordinator: 1.05}.open},
	{name: "fencedb.Hold, no drift bound, no margin", request: "3 s", open: holds{bare: true}.open},
	{name: "baseline: no drift bound, no margin, counts from the reply", request: "3 s", overlaps: true, open: holds{bare: true, fromReply: true}.open},
	{name: "baseline: counts from the reply", request: "3 s", overlaps: true, open: holds{fromReply: true}.open},
	{name: "client-go leaderelection", module: "k8s.io/client-go", request: "10 s", overlaps: true, open: leaderElection{}.open},
	{name: "client-go leaderelection, request limit of NewFromKubeconfig", module: "k8s.io/client-go", request: "5 s", overlaps: true, open: leaderElection{request: 5 * time.Second}.open},
	{name: "etcd concurrency", module: "go.etcd.io/etcd/client/v3", request: "10 s", overlaps: true, real: true, open: openEtcd},
}

// No fault has two candidates by fencedb.Hold believe at once that they are the leader, and
// some of the same faults have two by each of the others.
func TestElectors(t *testing.T) {
	versions, rows := versions(t), make([]string, len(electors))
	for i, e := range electors {
		t.Run(e.name, func(t *testing.T) {
			s := e.run(t)
			rows[i] = e.row(versions, s)
			if e.overlaps != (s.overlapping > 0) {
				t.Errorf("in %d of %d runs two candidates were the leader, for up to %v", s.overlapping, s.runs, s.longest)
			}
		})
	}
	table := heading + strings.Join(rows, "")
	t.Logf("\n%s", table)
	if *update && !t.Failed() && !slices.Contains(rows, "") {
		before, _, after := readPage(t)
		if err := os.WriteFile(page, []byte(before+table+after), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// The page's table is about these electors in these versions. Its figures are of one run.
func TestPage(t *testing.T) {
	versions := versions(t)
	want := heading
	for _, e := range electors {
		want += e.row(versions, summary{runs: 1})
	}
	_, table, _ := readPage(t)
	if got, want := fixed(table), fixed(want); got != want {
		t.Errorf("%s has\n%swant\n%srun TestElectors with -update", page, got, want)
	}
}

// faults are what the elector runs under: all of them, several times, where time is virtual,
// since what the candidates do periodically is spread at random; else a third of them, all
// delays among them, which a busy machine can run at the same time.
func (e elector) faults() []fault {
	if !e.real {
		return slices.Repeat(faults(), 5)
	}
	var some []fault
	for i, f := range faults() {
		if i%3 == 0 {
			some = append(some, f)
		}
	}
	return some
}

// run has the elector run under its faults.
func (e elector) run(t *testing.T) summary {
	all := e.faults()
	outcomes, errs := make([]outcome, len(all)), make([]error, len(all))
	contest := e.open(t)
	if e.real {
		var runs sync.WaitGroup
		for i, f := range all {
			runs.Go(func() { outcomes[i], errs[i] = measure(t.Context(), contest(), f) })
			time.Sleep(30 * time.Millisecond) // not all connect at once
		}
		runs.Wait()
	} else {
		for i, f := range all {
			synctest.Test(t, func(t *testing.T) { outcomes[i], errs[i] = measure(t.Context(), contest(), f) })
		}
	}
	var s summary
	for i, err := range errs {
		switch {
		case err == nil:
			s.add(all[i], outcomes[i])
		case e.real:
			t.Logf("left out, since this machine was slow: %v: %v", all[i], err)
		default:
			t.Fatalf("%v: %v", all[i], err)
		}
	}
	if s.runs < len(all)/2 {
		t.Fatalf("only %d of %d runs have come to an end", s.runs, len(all))
	}
	return s
}

// A summary is of the outcomes of one elector.
type summary struct {
	runs, overlapping int
	from              time.Duration // the shortest delay with an overlap
	longest           time.Duration // overlap
	both, neither     time.Duration // in all
}

func (s *summary) add(f fault, o outcome) {
	s.runs++
	s.both, s.neither, s.longest = s.both+o.overlap, s.neither+o.gap, max(s.longest, o.overlap)
	if o.overlap == 0 {
		return
	}
	s.overlapping++
	if s.from == 0 || f.delay < s.from {
		s.from = f.delay
	}
}

const heading = `| elector | version | waits for an answer | runs | with two leaders | from a delay of | two leaders, longest | two leaders, mean | no leader, mean |
|---|---|---|---|---|---|---|---|---|
`

// row prints a summary as a row of the table.
func (e elector) row(versions map[string]string, s summary) string {
	version, from := "this repository", "never"
	if e.module != "" {
		version = e.module + " " + versions[e.module]
	}
	if s.overlapping > 0 {
		from = fmt.Sprintf("%.2f s", s.from.Seconds())
	}
	return fmt.Sprintf("| %s | %s | %s | %d | %d | %s | %.2f s | %.2f s | %.1f s |\n", e.name, version, e.request,
		s.runs, s.overlapping, from, s.longest.Seconds(), s.both.Seconds()/float64(s.runs), s.neither.Seconds()/float64(s.runs))
}

// fixed returns of each line of a table what is the same in each run.
func fixed(table string) string {
	var b strings.Builder
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		fmt.Fprintln(&b, strings.Join(cells[:min(4, len(cells))], "|"))
	}
	return b.String()
}

// versions asks which versions this test is compiled with.
func versions(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, e := range electors {
		if e.module == "" || found[e.module] != "" {
			continue
		}
		out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Version}}", e.module).Output()
		if err != nil {
			t.Fatalf("go list -m %s: %v", e.module, err)
		}
		found[e.module] = strings.TrimSpace(string(out))
	}
	return found
}

const page = "../../../docs/compared.md"

// readPage returns the page's table, and what is before and after it.
func readPage(t *testing.T) (before, table, after string) {
	t.Helper()
	const begin, end = "<!-- electors: scripts/apart electors -update -->\n\n", "\n<!-- end of electors -->\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(text), begin)
	table, after, ends := strings.Cut(rest, end)
	if !begins || !ends {
		t.Fatalf("%s has no table between %q and %q", page, begin, end)
	}
	return before + begin, table, end + after
}
