package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/fencelint/fence/analyzers/driver"
	"github.com/fencelint/fence/fencedb/lab"
)

// A file is written as a whole or not at all, and links and devices stay what they are.
func TestWriteOutput(t *testing.T) {
	dir := t.TempDir()
	text := func(text string) func(io.Writer) error {
		return func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		}
	}
	read := func(name string) string {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if err := writeOutput(io.Discard, dir, "a.txt", text("old")); err != nil {
		t.Fatal(err)
	}
	full := errors.New("half of it")
	err := writeOutput(io.Discard, dir, "a.txt", func(w io.Writer) error { return errors.Join(text("ne")(w), full) })
	if !errors.Is(err, full) || read("a.txt") != "old" {
		t.Errorf("after %v there is %q", err, read("a.txt"))
	}
	if err := os.Symlink("a.txt", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := writeOutput(io.Discard, dir, "link", text("new")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(filepath.Join(dir, "link")); err != nil || info.Mode()&os.ModeSymlink == 0 || read("a.txt") != "new" {
		t.Errorf("through a link: %v, %q", err, read("a.txt"))
	}
	if err := writeOutput(io.Discard, dir, os.DevNull, text("gone")); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%s is a file now: %v", os.DevNull, err)
	}
	var usage *driver.UsageError
	if err := writeOutput(io.Discard, dir, "a.txt/b", text("x")); !errors.As(err, &usage) || usage.Fix == "" {
		t.Errorf("in a file: %v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%d files, want a.txt and link: %v", len(entries), err)
	}
}

// What is printed as a command is read by a shell as it was typed.
func TestShellWord(t *testing.T) {
	for _, word := range []string{"", "mine.json", "a b", "it's", `$HOME "x" \`, "näme", "-x", "a\nb", "*;&|<>"} {
		out, err := exec.Command("sh", "-c", "printf %s "+shellWord(word)).Output()
		if err != nil || string(out) != word {
			t.Errorf("%q becomes %s, which is %q: %v", word, shellWord(word), out, err)
		}
	}
}

// A violation is expected only where the scenario breaks that very promise, by its own mutant.
func TestExpects(t *testing.T) {
	s, err := lab.Lookup("reply-counted")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		mutant, invariant string
		want              bool
	}{
		{s.Mutant, "one-valid", true}, {s.Mutant, "accepted-in-order", false}, {"unfenced", "one-valid", false}, {"", "one-valid", false},
	} {
		if got := expects(s, test.mutant, &lab.Violation{Invariant: test.invariant}); got != test.want {
			t.Errorf("%s by %q: %t", test.invariant, test.mutant, got)
		}
	}
	if expects(s, s.Mutant, nil) {
		t.Error("nothing is expected")
	}
}

// Portions add up to one exploration.
func TestSearchInPortions(t *testing.T) {
	s, err := lab.Lookup("orders-daily")
	if err != nil {
		t.Fatal(err)
	}
	m, err := lab.LookupMutant("")
	if err != nil {
		t.Fatal(err)
	}
	in := &labInput{scenario: s, mutant: m}
	const seeds = portion + 100
	got, want := search(&statusLine{}, in, 5, seeds, 2), lab.Explore(s, 5, seeds, in.options(), 2)
	if got.Seeds != seeds || got.Seeds != want.Seeds || got.Events != want.Events || got.Simulated != want.Simulated || got.Marks != want.Marks || got.First != nil {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestNumbersThatPeopleRead(t *testing.T) {
	for n, want := range map[uint64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", 100000: "100,000"} {
		if got := thousands(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
	for text, want := range map[string]string{"40s": "40s", "47h0m0s": "47h0m0s", "60h0m0s": "2.5 days", "26280h0m0s": "3.0 years", "odd": "odd"} {
		if got := simulated(text); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// The help says what there is.
func TestLabHelp(t *testing.T) {
	for _, verb := range []string{"run", "explore", "shrink", "replay"} {
		if out, _ := command(t, exitOK, "lab", verb, "-h"); !strings.Contains(out, "exit status") || !strings.Contains(out, "Examples:") {
			t.Errorf("fence lab %s -h says\n%s", verb, out)
		}
	}
}

// docs/lab.md shows commands, flags and scenarios that there are, and names every key of a
// scenario and every fault.
func TestLabPage(t *testing.T) {
	page := readFile(t, "docs", "lab.md")
	quoted := func(name string) bool { return strings.Contains(page, "`"+name+"`") }
	var keys func(reflect.Type)
	keys = func(of reflect.Type) {
		for of.Kind() == reflect.Slice || of.Kind() == reflect.Map {
			of = of.Elem()
		}
		if of.Kind() != reflect.Struct || of.PkgPath() == "time" {
			return
		}
		for i := range of.NumField() {
			field := of.Field(i)
			if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); !quoted(name) {
				t.Errorf("docs/lab.md does not name the key %s", name)
			}
			keys(field.Type)
		}
	}
	keys(reflect.TypeFor[lab.Scenario]())
	for _, kind := range []lab.FaultKind{lab.Pause, lab.Suspend, lab.Freeze, lab.CutRequests, lab.CutReplies, lab.CutWrites, lab.SlowReplies, lab.ClockRate,
		lab.StoreRate, lab.StoreDown, lab.Failover, lab.Restore, lab.Break, lab.Stop, lab.Crash} {
		if !quoted(string(kind)) {
			t.Errorf("docs/lab.md does not name the fault %s", kind)
		}
	}
	commands, scenarios := 0, 0
	for _, s := range sections(page) {
		for _, b := range s.blocks {
			switch b.language {
			case "sh":
				for line := range strings.Lines(b.text) {
					commands++
					checkCommand(t, line)
				}
			case "json":
				scenarios++
				sc, err := lab.ParseScenario("docs/lab.md", []byte(b.text))
				if err != nil {
					t.Error(err)
					continue
				}
				if r := lab.Explore(sc, 1, 50, lab.Options{}, 2); r.First != nil || len(lab.Missing(sc, r.Marks)) > 0 {
					t.Errorf("the scenario of docs/lab.md: %+v, missing %v", r.First, lab.Missing(sc, r.Marks))
				}
			}
		}
	}
	if commands < 6 || scenarios == 0 {
		t.Errorf("docs/lab.md shows %d commands and %d scenarios", commands, scenarios)
	}
}

// checkCommand finds a command's verbs and flags in the tree.
func checkCommand(t *testing.T, line string) {
	t.Helper()
	line, _, _ = strings.Cut(line, "#")
	words := strings.Fields(line)
	cmd, rest, err := newRoot().Find(words[1:])
	if err != nil || len(words) < 3 || cmd.Name() != words[2] {
		t.Errorf("%s: %v", line, err)
		return
	}
	for _, word := range rest {
		name, long := strings.CutPrefix(word, "--")
		short := regexp.MustCompile(`^-(\w)$`).FindStringSubmatch(word)
		if long && cmd.Flags().Lookup(name) == nil || short != nil && cmd.Flags().ShorthandLookup(short[1]) == nil {
			t.Errorf("%s: there is no flag %s", line, word)
		}
	}
}
