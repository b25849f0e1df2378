package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/fencelint/fence/analyzers/driver"
	"github.com/fencelint/fence/fencedb/lab"
)

// exploreFlags are the flags of fence lab explore as typed.
type exploreFlags struct {
	labFlags
	seeds    uint64
	parallel int
	format   string
}

func newLabExplore(dir *string) *cobra.Command {
	var f exploreFlags
	cmd := &cobra.Command{
		Use:   "explore NAME|all",
		Short: "Play many seeds, and look for one that breaks a promise",
		Long: `Explore plays many seeds of a scenario, or of all, until one breaks a promise, and
counts what was met: a scenario that wants a marker which no seed met has shown
nothing, and fails as vacuous. A violation is printed with its seed, the command that
replays it, and the smallest history that breaks the same promise.

Standard output is the same for any --parallel. The exit status is 2 if the command
line or the scenario is at fault, 1 if a promise is broken or a scenario is vacuous,
else 0. Baselines are there to break a promise: if no seed does, it is 1.`,
		Example: `  fence lab explore all
  fence lab explore storm --seeds 100000 --parallel 8
  fence lab explore storm --from 100001 --seeds 100000
  fence lab explore late-replies --mutant deadline-from-reply`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.format != "text" && f.format != "json" {
				return notOneOf("--format", f.format, "text", "json")
			}
			if f.parallel < 1 {
				return &driver.UsageError{Problem: fmt.Sprintf("--parallel is %d", f.parallel), Fix: "write 1 or more"}
			}
			if cmd.Flags().Changed("seeds") && f.seeds == 0 {
				return &driver.UsageError{Problem: "--seeds is 0, which shows nothing", Fix: "write 1 or more"}
			}
			return f.run(cmd.OutOrStdout(), cmd.ErrOrStderr(), *dir, args)
		},
	}
	f.addRun(cmd, "from", "begin with seed `N`")
	cmd.Flags().Uint64Var(&f.seeds, "seeds", 0, "play `N` seeds (default: 1000, or as many as the mutant is caught in)")
	cmd.Flags().IntVar(&f.parallel, "parallel", runtime.GOMAXPROCS(0), "play on `N` goroutines")
	cmd.Flags().StringVarP(&f.format, "format", "f", "text", "print reports as `FORMAT`: text or json")
	return cmd
}

// inputs are the scenarios to explore, and the first seed.
func (f *exploreFlags) inputs(dir string, args []string) ([]*labInput, uint64, error) {
	if len(args) != 1 || args[0] != "all" || f.scenario != "" {
		in, seed, err := f.input(dir, "fence lab explore", args)
		return []*labInput{in}, seed, err
	}
	scenarios, err := lab.Scenarios()
	if err != nil {
		return nil, 0, err
	}
	var all []*labInput
	var seed uint64
	for _, s := range scenarios {
		in, first, err := f.input(dir, "fence lab explore", []string{s.Name})
		if err != nil {
			return nil, 0, err
		}
		all, seed = append(all, in), first
	}
	return all, seed, nil
}

func (f *exploreFlags) run(stdout, stderr io.Writer, dir string, args []string) error {
	all, first, err := f.inputs(dir, args)
	if err != nil {
		return err
	}
	bad := false
	for _, in := range all {
		x, err := f.explore(stderr, in, first)
		if err != nil {
			return err
		}
		write := x.text
		if f.format == "json" {
			write = x.json
		}
		if err := write(stdout); err != nil {
			return fmt.Errorf("printing the report: %w", err)
		}
		bad = bad || !x.OK
	}
	if bad {
		return errFindings
	}
	return nil
}

// exploration is what came of a scenario's seeds, as JSON has it.
type exploration struct {
	Scenario   string            `json:"scenario"`
	Mutant     string            `json:"mutant,omitempty"`
	LabVersion int               `json:"lab_version"`
	From       uint64            `json:"from"`
	Seeds      uint64            `json:"seeds"` // that were played
	Events     uint64            `json:"events"`
	Simulated  string            `json:"simulated"`
	OK         bool              `json:"ok"`
	Expected   bool              `json:"expected,omitempty"` // the violation is what the scenario is there to show
	Vacuous    []string          `json:"vacuous,omitempty"`  // markers that it wants and that no seed met
	Violation  *lab.Violation    `json:"violation,omitempty"`
	Seed       uint64            `json:"seed,omitempty"`
	Replay     string            `json:"replay,omitempty"`
	History    *lab.History      `json:"history,omitempty"`
	Markers    map[string]uint64 `json:"markers"`

	in *labInput
}

// explore plays the seeds of one scenario.
func (f *exploreFlags) explore(stderr io.Writer, in *labInput, first uint64) (*exploration, error) {
	seeds := f.seeds
	if seeds == 0 {
		seeds = in.seeds()
	}
	start := time.Now()
	r := search(newStatusLine(stderr), in, first, seeds, f.parallel)
	took := time.Since(start)
	fmt.Fprintf(stderr, "fence: %s: %s seeds in %.1fs, %s events/s, %.1f simulated days/s\n", in.scenario.Name, thousands(r.Seeds), took.Seconds(),
		thousands(uint64(float64(r.Events)/took.Seconds())), time.Duration(r.Simulated).Hours()/24/took.Seconds())
	x := &exploration{Scenario: in.scenario.Name, Mutant: in.mutant.Name, LabVersion: lab.Version, From: first, Seeds: r.Seeds, Events: r.Events,
		Simulated: time.Duration(r.Simulated).Round(time.Millisecond).String(), Markers: map[string]uint64{}, in: in}
	for i, m := range lab.Markers {
		x.Markers[m.Name] = r.Marks[i]
	}
	baseline := len(in.scenario.Breaks) > 0 && in.mutant.Name == in.scenario.Mutant
	if r.First == nil {
		x.Vacuous = lab.Missing(in.scenario, r.Marks)
		x.OK = !baseline && len(x.Vacuous) == 0
		return x, nil
	}
	x.Violation, x.Seed, x.Replay = r.First.Violation, r.First.Seed, in.command("run", r.First.Seed)
	x.Expected = expects(in.scenario, in.mutant.Name, x.Violation)
	x.OK = x.Expected
	if x.Expected {
		return x, nil
	}
	var err error
	x.History, err = lab.Shrink(in.scenario, x.Seed, in.options(), shrinkBudget)
	return x, labInputError(err)
}

// portion is how many seeds are played before the terminal is told.
const portion = 2048

// search explores in portions. They add up to what one exploration reports.
func search(status *statusLine, in *labInput, first, seeds uint64, parallel int) lab.Report {
	var all lab.Report
	defer status.clear()
	for all.Seeds < seeds && all.First == nil {
		r := lab.Explore(in.scenario, first+all.Seeds, min(portion, seeds-all.Seeds), in.options(), parallel)
		all.Seeds, all.Events, all.Simulated, all.First = all.Seeds+r.Seeds, all.Events+r.Events, all.Simulated+r.Simulated, r.First
		for i, n := range r.Marks {
			all.Marks[i] += n
		}
		status.show(fmt.Sprintf("%s: %s of %s seeds", in.scenario.Name, thousands(all.Seeds), thousands(seeds)))
	}
	return all
}

func (x *exploration) json(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(x)
}

func (x *exploration) text(w io.Writer) error {
	name := x.Scenario
	if x.Mutant != "" {
		name += ", mutant " + x.Mutant
	}
	fmt.Fprintf(w, "%s: %s\n  %s seeds from %d, %s simulated, %s events; * is what has to be met\n", name, x.verdict(), thousands(x.Seeds), x.From, simulated(x.Simulated), thousands(x.Events))
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, m := range lab.Markers {
		n := x.Markers[m.Name]
		wanted := ""
		if slices.Contains(x.in.scenario.Markers, m.Name) {
			wanted = " *"
		}
		if n > 0 || wanted != "" {
			fmt.Fprintf(tw, "  %12s\t%s%s\t%s\n", thousands(n), m.Name, wanted, m.Says)
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if x.Violation != nil {
		printViolation(w, x.Violation, x.Replay)
	}
	if x.History == nil {
		return nil
	}
	fmt.Fprint(w, "The smallest history that was found and breaks it; fence lab replay plays it from a file:\n")
	return printJSON(w, x.History)
}

// verdict is what came of it, in a line.
func (x *exploration) verdict() string {
	switch breaks := join(x.in.scenario.Breaks); {
	case x.Expected:
		return fmt.Sprintf("seed %d breaks %s, as expected", x.Seed, x.Violation.Invariant)
	case x.Violation != nil:
		return fmt.Sprintf("seed %d breaks %s", x.Seed, x.Violation.Invariant)
	case len(x.Vacuous) > 0:
		return "vacuous: no seed met " + join(x.Vacuous)
	case !x.OK:
		return "it is there to break " + breaks + ", and no seed did"
	}
	return "no promise was broken"
}

func join(names []string) string { return strings.Join(names, ", ") }

// simulated is a long time as people say it.
func simulated(text string) string {
	d, err := time.ParseDuration(text)
	if err != nil || d < 48*time.Hour {
		return text
	}
	if days := d.Hours() / 24; days < 730 {
		return fmt.Sprintf("%.1f days", days)
	}
	return fmt.Sprintf("%.1f years", d.Hours()/24/365)
}
