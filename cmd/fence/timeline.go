package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fencelint/fence/analyzers"
	"github.com/fencelint/fence/analyzers/driver"
	"github.com/fencelint/fence/fencedb/lab"
	"github.com/fencelint/fence/internal/finding"
)

// shape is how a finding is played: a scenario of the lab, and what the former owner does in it
// at the finding's line.
type shape struct {
	scenario string // see [lab.Shape]
	does     string // with the line for %s and the token for %d
	after    bool   // that comes after the successor's first write; else after its grant
}

// shapes are those of the checks whose findings have a moment to draw.
var shapes = map[string]shape{
	"checkthenwrite":  {"pause", "goes on: %s  sends its write, token %d", true},
	"unfencedwrite":   {"pause", "goes on: %s  sends its write, token %d", true},
	"wallclockexpiry": {"clock", "%s  by its own clock the lease has not expired, so it writes, token %d", false},
}

// explainTimeline plays the shape of the code that a finding is about, with its own lines at
// the events.
func explainTimeline(ctx context.Context, w io.Writer, dir, at string) error {
	file, line, err := fileLine(at)
	if err != nil {
		return err
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	if _, err := os.Stat(file); err != nil {
		return &driver.UsageError{Problem: fmt.Sprintf("--timeline %s: there is no such file", at), Fix: "write FILE:LINE, as fence check prints it", Err: err}
	}
	f, err := findingAt(ctx, file, line)
	if err != nil {
		return err
	}
	s, err := lab.Shape(shapes[f.Code].scenario)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s: %s\n", place(f.Location), f.Message)
	for _, part := range []struct {
		title string
		guard lab.GuardKind
	}{
		{"As the code is: what is written compares no token.", lab.NoGuard},
		{"With a token that the write itself compares:", lab.ScopeGuard},
	} {
		fmt.Fprintf(w, "\n%s\n\n", part.title)
		guarded := s.Guarded(part.guard)
		r := lab.Run(guarded, 1, lab.Options{Log: true})
		for _, e := range story(f, guarded, r.Log) {
			fmt.Fprintf(w, "%7.1f s  %-12s %s\n", time.Duration(e.at).Seconds(), e.who, e.what)
		}
	}
	fmt.Fprintf(w, "\nfence explain %s says what to write instead.\n", f.Code)
	return nil
}

// fileLine reads FILE:LINE.
func fileLine(at string) (file string, line int, err error) {
	i := strings.LastIndexByte(at, ':')
	if i > 0 {
		line, err = strconv.Atoi(at[i+1:])
	}
	if i <= 0 || err != nil || line < 1 {
		return "", 0, &driver.UsageError{Problem: fmt.Sprintf("--timeline %s names no line", at), Fix: "write FILE:LINE, as fence check prints it"}
	}
	return at[:i], line, nil
}

// findingAt checks the package of a file and returns the finding at a line of it.
func findingAt(ctx context.Context, file string, line int) (finding.Finding, error) {
	checks, err := driver.Select(analyzers.All(), "all")
	if err != nil {
		return finding.Finding{}, err
	}
	abs, err := filepath.Abs(file)
	if err != nil {
		return finding.Finding{}, fmt.Errorf("finding %s: %w", file, err)
	}
	r, err := driver.Run(ctx, driver.Options{Dir: filepath.Dir(abs), Patterns: []string{"."}, Checks: checks})
	if err != nil {
		return finding.Finding{}, err
	}
	here := func(p finding.Place) bool { return filepath.Join(r.Root, filepath.FromSlash(p.File)) == abs }
	var lines []string
	for _, f := range r.Findings {
		if _, drawn := shapes[f.Code]; !drawn || !here(f.Location) {
			continue
		}
		if f.Location.Line == line || slices.ContainsFunc(f.Related, func(r finding.Related) bool { return r.Location.Line == line && here(r.Location) }) {
			return f, nil
		}
		lines = append(lines, strconv.Itoa(f.Location.Line))
	}
	if len(lines) == 0 {
		return finding.Finding{}, &driver.UsageError{Problem: fmt.Sprintf("fence check finds nothing in %s", file), Fix: "run it on the package, and give the line of a finding"}
	}
	return finding.Finding{}, &driver.UsageError{Problem: fmt.Sprintf("fence check finds nothing in line %d of %s", line, file), Fix: "it does in line " + strings.Join(lines, ", ")}
}

// moment is one line of a story.
type moment struct {
	at        lab.Time
	who, what string
}

// story picks what tells the finding's story from a log: the former owner is the first worker.
func story(f finding.Finding, s *lab.Scenario, log []lab.Entry) []moment {
	owner := s.Workers[0].Name
	shape := shapes[f.Code]
	var all []moment
	say := func(e lab.Entry, who, format string, args ...any) {
		all = append(all, moment{e.At, who, fmt.Sprintf(format, args...)})
	}
	successor := int64(0)    // the token of who took over
	wrote, late := "", false // the first write of the successor, and whether the owner's came after it
	for _, e := range log {
		switch {
		case e.Kind == lab.EntryGrant && e.Peer == owner:
			say(e, owner, "is granted the lease, token %d", e.Token)
		case e.Kind == lab.EntryFault && e.Op == string(lab.Pause):
			for _, r := range f.Related {
				if r.Location.Line < f.Location.Line || r.Location.File != f.Location.File {
					say(e, owner, "%s  %s", place(r.Location), plain(r.Message))
					break
				}
			}
			say(e, owner, "stands still for %v: a collection, a frozen machine, a slow disk", time.Duration(e.Until-e.At))
		case e.Kind == lab.EntryFault && e.Op == string(lab.ClockRate):
			say(e, owner, "has a clock that is wrong by %s", e.Note)
		case e.Kind == lab.EntryFault && e.Op == string(lab.CutRequests):
			say(e, owner, "cannot reach the coordinator")
		case e.Kind == lab.EntryGrant:
			successor = e.Token
			say(e, "coordinator", "lets the lease expire and grants it to %s, token %d", e.Peer, e.Token)
		case e.Kind == lab.EntryDecision && e.Op == "write" && e.Token == successor && wrote == "":
			wrote = e.Peer
			say(e, wrote, "writes: %s", e.DecisionReceipt.Result)
		case e.Kind == lab.EntryWrite && e.Who == owner && successor != 0 && !late && (wrote != "" || !shape.after):
			late = true
			say(e, owner, shape.does, place(f.Location), e.Token)
		case e.Kind == lab.EntryDecision && e.Op == "write" && e.Peer == owner && late:
			d := e.DecisionReceipt
			if d.Result == "accepted" {
				say(e, "resource", "ACCEPTS the write of the former owner, although token %d is known", successor)
			} else {
				say(e, "resource", "rejects it: expected a fence of at least %d, received %d", d.Expected, d.Received)
			}
			return all
		}
	}
	return all
}

// place is where something is in the code.
func place(p finding.Place) string { return filepath.Base(p.File) + ":" + strconv.Itoa(p.Line) }

// plain is a message without the number of its event.
func plain(message string) string {
	if _, after, ok := strings.Cut(message, ". "); ok && len(message) > 0 && message[0] >= '0' && message[0] <= '9' {
		return after
	}
	return message
}
