// Precision prints docs/precision.md from the judged findings on real programs.
//
// usage: go run ./analyzers/driver/precision testdata/field > docs/precision.md
//
// A label is one line of labels.jsonl: a finding that somebody opened and judged
// against the code, or a hazard that was noticed and not reported. A line of
// writes.jsonl is what scripts/field -c counted in one module.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fencelint/fence/analyzers"
)

// label is one judged finding.
type label struct {
	Module  string `json:"module"` // path@version
	Check   string `json:"check"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	Verdict string `json:"verdict"` // true, false, or missed: a hazard without a finding
	Reason  string `json:"reason"`
	Second  *struct {
		Verdict string `json:"verdict"`
		Reason  string `json:"reason"`
	} `json:"second,omitempty"` // of a reader who had not seen the first verdict
	Extra  bool `json:"extra,omitempty"`  // from a module beyond testdata/field/modules.txt
	Config bool `json:"config,omitempty"` // of the run with the module's fence.yaml
}

// writes is what --debug.writes listed in one module with its fence.yaml.
type writes struct {
	Module   string `json:"module"`
	Listed   int    `json:"listed"`
	Fenced   int    `json:"fenced"`
	Unfenced int    `json:"unfenced"`
	Unproven int    `json:"unproven"`
	Missing  int    `json:"missing"` // found by a reader and not listed
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: precision DIR")
		os.Exit(2)
	}
	if err := page(os.Stdout, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "precision:", err)
		os.Exit(1)
	}
}

// page writes the page of the labels and counts in dir.
func page(w io.Writer, dir string) error {
	labels, err := open(dir, "labels.jsonl", readLabels)
	if err != nil {
		return err
	}
	counts, err := open(dir, "writes.jsonl", readWrites)
	if err != nil {
		return err
	}
	return write(w, labels, counts)
}

func open[T any](dir, name string, read func(io.Reader) ([]T, error)) ([]T, error) {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out, err := read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return out, nil
}

// read decodes a value a line and refuses what it does not know and what check does.
func read[T any](r io.Reader, check func(T) error) ([]T, error) {
	var out []T
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		dec := json.NewDecoder(strings.NewReader(lines.Text()))
		dec.DisallowUnknownFields()
		var v T
		err := dec.Decode(&v)
		if err == nil {
			err = check(v)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		out = append(out, v)
	}
	return out, lines.Err()
}

func readWrites(r io.Reader) ([]writes, error) {
	return read(r, func(w writes) error {
		if w.Module == "" || w.Listed != w.Fenced+w.Unfenced+w.Unproven {
			return errors.New("want a module, and as many listed as fenced, unfenced and unproven")
		}
		return nil
	})
}

func readLabels(r io.Reader) ([]label, error) {
	out, err := read(r, func(l label) error {
		if !slices.Contains([]string{"true", "false", "missed"}, l.Verdict) || l.Reason == "" || l.Check == "" || l.Module == "" {
			return errors.New("want a module, a check, a reason and a verdict of true, false or missed")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(out, func(a, b label) int {
		return cmp.Or(cmp.Compare(a.Check, b.Check), cmp.Compare(a.Module, b.Module), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return out, nil
}

// wilson is the 95 % score interval of k successes in n (Wilson 1927).
func wilson(k, n int) (low, high float64) {
	const z = 1.959964
	p, m := float64(k)/float64(n), float64(n)
	centre := p + z*z/(2*m)
	spread := z * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return (centre - spread) / (1 + z*z/m), (centre + spread) / (1 + z*z/m)
}

// few is the number of findings below which an interval says too little.
const few = 30

type tally struct{ n, k, missed int }

// count tallies labels by a name.
func count(labels []label, by func(label) string) map[string]*tally {
	out := map[string]*tally{}
	for _, l := range labels {
		t := out[by(l)]
		if t == nil {
			t = &tally{}
			out[by(l)] = t
		}
		switch l.Verdict {
		case "missed":
			t.missed++
		case "true":
			t.n++
			t.k++
		default:
			t.n++
		}
	}
	return out
}

// row is a row of a table: a name and its tally.
func (t *tally) row(name string) string {
	if t == nil {
		t = &tally{}
	}
	share, interval := "-", fmt.Sprintf("too few: %d/%d", t.k, t.n)
	if t.n > 0 {
		share = fmt.Sprintf("%.2f", float64(t.k)/float64(t.n))
	}
	if t.n >= few {
		low, high := wilson(t.k, t.n)
		interval = fmt.Sprintf("%.2f to %.2f", low, high)
	}
	return fmt.Sprintf("| %s | %d | %d | %s | %s | %d |", name, t.n, t.k, share, interval, t.missed)
}

type printer func(format string, args ...any)

func write(w io.Writer, all []label, counts []writes) error {
	var names []string
	for _, c := range analyzers.All() {
		names = append(names, c.Name)
	}
	var labels, configured []label
	for _, l := range all {
		if !slices.Contains(names, l.Check) {
			return fmt.Errorf("%s %s:%d: there is no check %q", l.Module, l.File, l.Line, l.Check)
		}
		if l.Config {
			configured = append(configured, l)
		} else {
			labels = append(labels, l)
		}
	}
	checks := count(labels, func(l label) string { return l.Check })

	b := bufio.NewWriter(w)
	p := printer(func(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) })
	p("# How often a finding is right")
	p("")
	p("<!-- Generated by go run ./analyzers/driver/precision from testdata/field. -->")
	p("")
	p("Every finding of `fence check`, run with no configuration on the programs of")
	p("`testdata/field/modules.txt` by `scripts/field` (and on a few more, marked +),")
	p("was opened and judged against the code. A finding is true if a paused or late")
	p("former owner, or clocks apart by more than the lease allows for, can do what the")
	p("message says.")
	p("")
	p("| check | findings | true | share | 95 %% interval | hazards missed |")
	p("|---|---:|---:|---:|---|---:|")
	for _, name := range names {
		p("%s", checks[name].row(name))
	}
	p("")
	p("A check is on by default only while at least 9 of 10 of its findings hold up.")
	for _, name := range names {
		if t := checks[name]; t == nil || t.n == 0 {
			p("%s has no finding here, so nothing shows yet that it holds up on real programs.", name)
		}
	}
	p("")
	sections(p, "##", labels)
	withConfig(p, names, configured, counts)
	second(p, all)
	return b.Flush()
}

// sections lists the labels of each verdict.
func sections(p printer, level string, labels []label) {
	for _, s := range []struct{ verdict, title string }{
		{"true", "True findings"},
		{"false", "False findings"},
		{"missed", "Hazards noticed and not reported"},
	} {
		p("%s %s", level, s.title)
		p("")
		found := false
		for _, l := range labels {
			if l.Verdict != s.verdict {
				continue
			}
			found = true
			mark := ""
			if l.Extra {
				mark = " +"
			}
			p("- `%s`%s `%s:%d` %s: %s", l.Module, mark, l.File, l.Line, l.Check, l.Reason)
		}
		if !found {
			p("None.")
		}
		p("")
	}
}

// withConfig tells of the run with a fence.yaml for each module.
func withConfig(p printer, names []string, labels []label, counts []writes) {
	p("## With a fence.yaml")
	p("")
	p("The modules of `testdata/field/configs`, each with the fence.yaml that its maintainers")
	p("would write, by `scripts/field -c`. Findings of other checks are those of the run above.")
	p("")
	p("| check | findings | true | share | 95 %% interval | hazards missed |")
	p("|---|---:|---:|---:|---|---:|")
	checks := count(labels, func(l label) string { return l.Check })
	for _, name := range names {
		if checks[name] != nil {
			p("%s", checks[name].row(name))
		}
	}
	p("")
	p("| module | findings | true | share | 95 %% interval | hazards missed |")
	p("|---|---:|---:|---:|---|---:|")
	modules := count(labels, func(l label) string { return l.Module })
	for _, c := range counts {
		p("%s", modules[c.Module].row(c.Module))
	}
	p("")
	p("Every write to what is declared should be listed by `--debug.writes` as fenced, unfenced")
	p("or unproven. Not listed are those of `writes.txt`, where a reader noted the calls. A")
	p("statement that its function leaves to its callers to be judged by is listed at both.")
	p("")
	p("| module | listed | fenced | unfenced | unproven | share unproven | not listed |")
	p("|---|---:|---:|---:|---:|---:|---:|")
	all := writes{Module: "all"}
	line := func(w writes) {
		share := "-"
		if w.Listed > 0 {
			share = fmt.Sprintf("%.2f", float64(w.Unproven)/float64(w.Listed))
		}
		p("| %s | %d | %d | %d | %d | %s | %d |", w.Module, w.Listed, w.Fenced, w.Unfenced, w.Unproven, share, w.Missing)
	}
	for _, w := range counts {
		line(w)
		all.Listed, all.Fenced, all.Unfenced = all.Listed+w.Listed, all.Fenced+w.Fenced, all.Unfenced+w.Unfenced
		all.Unproven, all.Missing = all.Unproven+w.Unproven, all.Missing+w.Missing
	}
	line(all)
	p("")
	sections(p, "###", labels)
}

// second tells how a second reader judged.
func second(p printer, labels []label) {
	n, agree := 0, 0
	for _, l := range labels {
		if l.Second == nil {
			continue
		}
		n++
		if l.Second.Verdict == l.Verdict {
			agree++
		}
	}
	p("## Second reading")
	p("")
	if n == 0 {
		p("No finding has been judged twice.")
		return
	}
	p("%d findings were judged again by a reader who had not seen the first verdict; %d", n, agree)
	p("verdicts agree.")
	for _, l := range labels {
		if l.Second != nil && l.Second.Verdict != l.Verdict {
			p("")
			p("- `%s` `%s:%d` %s: first %s, second %s: %s", l.Module, l.File, l.Line, l.Check, l.Verdict, l.Second.Verdict, l.Second.Reason)
		}
	}
}
