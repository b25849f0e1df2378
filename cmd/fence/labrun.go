package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/fencelint/fence/analyzers/driver"
	"github.com/fencelint/fence/fencedb/lab"
	"github.com/fencelint/fence/fencedb/lab/timeline"
	"github.com/fencelint/fence/internal/replace"
)

// drawing is one way to draw a run.
type drawing struct {
	name string
	draw func(io.Writer, *lab.Scenario, *lab.Result, timeline.Options) error
}

// drawings are the values of --format, in the order they are listed in.
var drawings = []drawing{
	{"text", timeline.WriteReceipts},
	{"json", func(w io.Writer, _ *lab.Scenario, r *lab.Result, _ timeline.Options) error {
		return timeline.WriteNDJSON(w, r.Log)
	}},
	{"mermaid", timeline.WriteMermaid},
	{"html", timeline.WriteHTML},
}

// drawFlags say how a run is drawn, and where to.
type drawFlags struct {
	format, out string
	verbose     bool
}

func (f *drawFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.format, "format", "f", "text", "draw the run as `FORMAT`: text, json, mermaid or html")
	cmd.Flags().StringVarP(&f.out, "output", "o", "", "write to `FILE`")
	cmd.Flags().BoolVar(&f.verbose, "verbose", false, "tell everything that happened, and print every receipt")
}

// drawing is the one that the flags name, if its file has a place.
func (f *drawFlags) drawing(dir string) (drawing, error) {
	if err := checkOutput(dir, f.out); err != nil {
		return drawing{}, err
	}
	var names []string
	for _, d := range drawings {
		if d.name == f.format {
			return d, nil
		}
		names = append(names, d.name)
	}
	return drawing{}, notOneOf("--format", f.format, names...)
}

// played is a run with its log, and what is said of it.
type played struct {
	scenario *lab.Scenario
	mutant   string
	result   lab.Result
	replay   string       // the command
	history  *lab.History // of a violation that nobody expects, as small as it gets; nil if there is none
}

// print draws a run, and returns what its promises make of the exit status.
func (f *drawFlags) print(stdout, stderr io.Writer, dir string, d drawing, p *played) error {
	text := f.format == "text"
	said := &bytes.Buffer{}
	p.sum(said, text)
	err := writeOutput(stdout, dir, f.out, func(w io.Writer) error {
		if err := d.draw(w, p.scenario, &p.result, timeline.Options{Verbose: f.verbose, Mutant: p.mutant, Replay: p.replay}); err != nil || !text {
			return err
		}
		_, err := w.Write(said.Bytes())
		return err
	})
	if err != nil {
		return err
	}
	if !text || f.out != "" {
		if _, err := stderr.Write(said.Bytes()); err != nil {
			return fmt.Errorf("printing what became of the run: %w", err)
		}
	}
	v := p.result.Violation
	if v == nil || expects(p.scenario, p.mutant, v) {
		return nil
	}
	return errFindings
}

// sum says of a violation what a drawing does not, or all of it.
func (p *played) sum(w io.Writer, drawn bool) {
	s, v := p.scenario, p.result.Violation
	baseline := len(s.Breaks) > 0 && p.mutant == s.Mutant
	if v == nil {
		if baseline {
			fmt.Fprintf(w, "%s is there to break %s; this seed does not, and fence lab explore %s finds one that does.\n", s.Name, join(s.Breaks), s.Name)
		}
		return
	}
	if !drawn {
		printViolation(w, v, p.replay)
	}
	if expects(s, p.mutant, v) {
		fmt.Fprintf(w, "As expected: %s is there to break %s.\n", s.Name, join(s.Breaks))
	}
	if p.history == nil {
		return
	}
	fmt.Fprint(w, "\nThe smallest history that was found and breaks it; fence lab replay plays it from a file:\n")
	_ = printJSON(w, p.history) // w is a buffer
}

// printViolation says what is broken, and how to see it.
func printViolation(w io.Writer, v *lab.Violation, replay string) {
	for _, i := range lab.Invariants {
		if i.Name == v.Invariant {
			fmt.Fprintf(w, "broken: %s: %s\n", i.Name, i.Says)
		}
	}
	fmt.Fprintf(w, "at %v: %s\nreplay: %s\n", time.Duration(v.At), v.Says, replay)
}

// writeOutput writes to a file if one is named: as a whole, or not at all.
func writeOutput(stdout io.Writer, dir, name string, write func(io.Writer) error) error {
	if name == "" {
		return write(stdout)
	}
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	if err := replace.File(within(dir, name), b.Bytes()); err != nil {
		return outputError(err)
	}
	return nil
}

// checkOutput finds out before anything is played whether a file has a place.
func checkOutput(dir, name string) error {
	if name == "" {
		return nil
	}
	path := within(dir, name)
	info, err := os.Stat(filepath.Dir(path))
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is no directory", filepath.Dir(path))
	}
	if info, statErr := os.Stat(path); statErr == nil && info.IsDir() {
		err = fmt.Errorf("%s is a directory", path)
	}
	if err != nil {
		return outputError(err)
	}
	return nil
}

func outputError(err error) error {
	return &driver.UsageError{Problem: "--output: " + err.Error(), Fix: "name a file in a directory that can be written", Err: err}
}

func newLabRun(dir *string) *cobra.Command {
	var f labFlags
	var draw drawFlags
	cmd := &cobra.Command{
		Use:   "run NAME",
		Short: "Play a scenario once, and draw what happened",
		Long: `Run plays one seed of a scenario and draws it: as receipts that people read (text),
as the log, an object a line (json), as a diagram for a page or an issue (mermaid),
or as a page with a timeline that needs no network (html).

The exit status is 2 if the command line or the scenario is at fault, 1 if a promise
is broken, else 0. Baselines are there to break a promise: if they do, it is 0.`,
		Example: `  fence lab run orders-daily
  fence lab run orders-daily -f html -o timeline.html
  fence lab run storm --seed 82 --verbose
  fence lab run late-replies --mutant deadline-from-reply --seed 5`,
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := draw.drawing(*dir)
			if err != nil {
				return err
			}
			in, seed, err := f.input(*dir, "fence lab run", args)
			if err != nil {
				return err
			}
			opts := in.options()
			opts.Log = true
			p := &played{scenario: in.scenario, mutant: in.mutant.Name, result: lab.Run(in.scenario, seed, opts), replay: in.command("run", seed)}
			if v := p.result.Violation; v != nil && !expects(in.scenario, in.mutant.Name, v) {
				p.history, err = lab.Shrink(in.scenario, seed, in.options(), shrinkBudget)
				if err != nil {
					return labInputError(err)
				}
			}
			return draw.print(cmd.OutOrStdout(), cmd.ErrOrStderr(), *dir, d, p)
		},
	}
	f.addRun(cmd, "seed", "play seed `N`")
	draw.add(cmd)
	return cmd
}

func newLabReplay(dir *string) *cobra.Command {
	var draw drawFlags
	cmd := &cobra.Command{
		Use:   "replay FILE",
		Short: "Play a history again, and draw what happened",
		Long: `Replay plays the history in a file, which fence lab shrink wrote: the scenario, the
seed and exactly what went wrong. A history of another version of the lab is
refused, for it would play something else.

The exit status is that of fence lab run.`,
		Example: `  fence lab shrink late-writes --mutant unfenced -o history.json
  fence lab replay history.json -f html -o timeline.html`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return &driver.UsageError{Problem: "fence lab replay takes one file", Fix: "fence lab shrink writes one"}
			}
			d, err := draw.drawing(*dir)
			if err != nil {
				return err
			}
			text, err := readInput(*dir, args[0])
			if err != nil {
				return err
			}
			h, err := lab.ParseHistory(args[0], text)
			if err != nil {
				return labInputError(err)
			}
			p := &played{scenario: h.Scenario, mutant: h.Mutant, result: h.Run(true), replay: "fence lab replay " + shellWord(args[0])}
			if v := p.result.Violation; h.Invariant != "" && (v == nil || v.Invariant != h.Invariant) {
				fmt.Fprintf(cmd.ErrOrStderr(), "fence: %s says that it breaks %s, and it does not\n", args[0], h.Invariant)
			}
			return draw.print(cmd.OutOrStdout(), cmd.ErrOrStderr(), *dir, d, p)
		},
	}
	draw.add(cmd)
	return cmd
}
