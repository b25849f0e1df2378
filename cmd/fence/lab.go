package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/fencelint/fence/analyzers/driver"
	"github.com/fencelint/fence/fencedb/lab"
)

func newLab(dir *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "Play leases and guards under faults, in virtual time",
		Long: `Lab plays a scenario: workers that hold a lease, the coordinator that grants it and
the resource that they write, under faults that a seed draws. They run the steps
that production runs. The same seed gives the same bytes on every machine.

A run is held to the promises in docs/invariants.md. docs/lab.md says how to read
what is printed, and how to write a scenario.`,
		Example: `  fence lab run orders-daily
  fence lab explore all --seeds 20000
  fence lab explore late-replies --mutant deadline-from-reply`,
	}
	withVerbs(cmd, newLabList(), newLabShow(dir), newLabRun(dir), newLabExplore(dir), newLabShrink(dir), newLabReplay(dir))
	return cmd
}

// labFlags say what is played, as typed.
type labFlags struct {
	scenario, mutant, seed string
	version                int
}

func (f *labFlags) addScenario(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.scenario, "scenario", "", "play the scenario in `FILE`, one of your own")
}

func (f *labFlags) addRun(cmd *cobra.Command, seed, usage string) {
	f.addScenario(cmd)
	cmd.Flags().StringVar(&f.seed, seed, "1", usage)
	cmd.Flags().StringVar(&f.mutant, "mutant", "", "break the rule of this `NAME` on purpose; fence lab list has them")
	cmd.Flags().IntVar(&f.version, "lab-version", lab.Version, "refuse to play unless the lab is of this version, `N`: another one plays something else from the same seed")
}

// A labInput is what is played.
type labInput struct {
	scenario *lab.Scenario
	mutant   *lab.Mutant
	named    string // the arguments that name the scenario and the mutant
}

// options are those of a run.
func (in *labInput) options() lab.Options { return lab.Options{Mutant: in.mutant} }

// expects tells whether a scenario is there to show this violation.
func expects(s *lab.Scenario, mutant string, v *lab.Violation) bool {
	return v != nil && mutant == s.Mutant && slices.Contains(s.Breaks, v.Invariant)
}

// read reads the scenario that the arguments name, or that is in a file.
func (f *labFlags) read(dir, verb string, args []string) (*lab.Scenario, error) {
	switch {
	case len(args) > 1 || len(args) == 1 && f.scenario != "":
		return nil, &driver.UsageError{Problem: verb + " takes one scenario", Fix: "write its name, or --scenario and a file"}
	case len(args) == 0 && f.scenario == "":
		return nil, &driver.UsageError{Problem: verb + " needs a scenario", Fix: "fence lab list lists them; --scenario takes one of your own"}
	case f.scenario == "":
		s, err := lab.Lookup(args[0])
		return s, labInputError(err)
	}
	text, err := readInput(dir, f.scenario)
	if err != nil {
		return nil, err
	}
	s, err := lab.ParseScenario(f.scenario, text)
	return s, labInputError(err)
}

// input reads what is played, and from which seed on.
func (f *labFlags) input(dir, verb string, args []string) (*labInput, uint64, error) {
	s, err := f.read(dir, verb, args)
	if err != nil {
		return nil, 0, err
	}
	if f.version != lab.Version {
		return nil, 0, &driver.UsageError{Problem: fmt.Sprintf("the seed is of version %d of the lab, and this is version %d, which would play something else", f.version, lab.Version),
			Fix: "play it with the fence that wrote it, or search again: fence lab explore"}
	}
	seed, err := lab.ParseSeed(f.seed)
	if err != nil {
		return nil, 0, labInputError(err)
	}
	in, err := f.with(s)
	return in, seed, err
}

// with is a scenario with the mutant that the flags name, or its own.
func (f *labFlags) with(s *lab.Scenario) (*labInput, error) {
	name := f.mutant
	if name == "" {
		name = s.Mutant
	}
	m, err := lab.LookupMutant(name)
	if err != nil {
		return nil, labInputError(err)
	}
	in := &labInput{scenario: s, mutant: m, named: s.Name}
	if f.scenario != "" {
		in.named = "--scenario " + shellWord(f.scenario)
	}
	if m.Name != s.Mutant {
		in.named += " --mutant " + m.Name
	}
	return in, nil
}

// command is the command that plays a seed again.
func (in *labInput) command(verb string, seed uint64) string {
	return fmt.Sprintf("fence lab %s %s --seed %d --lab-version %d", verb, in.named, seed, lab.Version)
}

// shellWord is a word as a shell reads it.
func shellWord(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@%+=,", r)
	}
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// readInput reads a file that the command line names.
func readInput(dir, name string) ([]byte, error) {
	text, err := os.ReadFile(within(dir, name))
	if err != nil {
		return nil, &driver.UsageError{Problem: err.Error(), Fix: "name a file that can be read", Err: err}
	}
	return text, nil
}

// within is a file name as if typed in dir.
func within(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// labInputError is the command line's error for what the lab did not accept.
func labInputError(err error) error {
	var input *lab.InputError
	if errors.As(err, &input) {
		return &driver.UsageError{Problem: input.Where + ": " + input.Problem, Fix: input.Fix, Err: err}
	}
	return err
}

func newLabList() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List scenarios, mutants, promises and markers",
		Example: `  fence lab list`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := lab.Scenarios()
			if err != nil {
				return err
			}
			return listLab(cmd.OutOrStdout(), all)
		},
	}
}

// listLab prints all that has a name in the lab.
func listLab(w io.Writer, scenarios []*lab.Scenario) error {
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprint(tw, "SCENARIOS\n")
	for _, s := range scenarios {
		breaks := ""
		if len(s.Breaks) > 0 {
			breaks = " (a baseline: it breaks " + strings.Join(s.Breaks, ", ") + ")"
		}
		fmt.Fprintf(tw, "  %s\t%s%s\n", s.Name, s.Title, breaks)
	}
	fmt.Fprint(tw, "\nMUTANTS\tthe rule that is broken; where, and within how many seeds, it is caught\n")
	for _, m := range lab.Mutants {
		fmt.Fprintf(tw, "  %s\t%s (%s, %d seeds)\n", m.Name, m.Says, m.Scenario, m.Seeds)
	}
	fmt.Fprint(tw, "\nPROMISES\n")
	for _, i := range lab.Invariants {
		assumes := ""
		if i.Assumes != "" {
			assumes = " (assumes: " + i.Assumes + ")"
		}
		fmt.Fprintf(tw, "  %s\t%s%s\n", i.Name, i.Says, assumes)
	}
	fmt.Fprint(tw, "\nMARKERS\n")
	for _, m := range lab.Markers {
		fmt.Fprintf(tw, "  %s\t%s\n", m.Name, m.Says)
	}
	return tw.Flush()
}

func newLabShow(dir *string) *cobra.Command {
	var f labFlags
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Print a scenario",
		Long: `Show prints a scenario as JSON: what --scenario reads, so that it can be changed
and played. With --scenario it checks one of your own.`,
		Example: `  fence lab show orders-daily >mine.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := f.read(*dir, "fence lab show", args)
			if err != nil {
				return err
			}
			return printJSON(cmd.OutOrStdout(), s)
		},
	}
	f.addScenario(cmd)
	return cmd
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("printing JSON: %w", err)
	}
	return nil
}

// shrinkBudget is how many runs are tried to make a history smaller.
const shrinkBudget = 4000

func newLabShrink(dir *string) *cobra.Command {
	var f labFlags
	var out string
	var seeds uint64
	cmd := &cobra.Command{
		Use:   "shrink NAME",
		Short: "Find the smallest history that breaks a promise",
		Long: `Shrink plays seeds until one breaks a promise, and makes its history as small as it
can be and still break it: fewer faults, shorter delays, fewer workers, better
clocks, less work. It prints the history; fence lab replay plays it.

The exit status is 2 if the command line is at fault, 1 if a promise is broken, else
0: there is nothing to shrink.`,
		Example: `  fence lab shrink late-writes --mutant unfenced -o history.json
  fence lab replay history.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			in, seed, err := f.input(*dir, "fence lab shrink", args)
			if err != nil {
				return err
			}
			if err := checkOutput(*dir, out); err != nil {
				return err
			}
			if seeds == 0 {
				seeds = in.seeds()
			}
			r := lab.Explore(in.scenario, seed, seeds, in.options(), runtime.GOMAXPROCS(0))
			if r.First == nil {
				fmt.Fprintf(cmd.ErrOrStderr(), "fence: no promise is broken from seed %d to %d: there is nothing to shrink\n", seed, seed+seeds-1)
				return nil
			}
			h, err := lab.Shrink(in.scenario, r.First.Seed, in.options(), shrinkBudget)
			if err != nil {
				return labInputError(err)
			}
			if err := writeOutput(cmd.OutOrStdout(), *dir, out, func(w io.Writer) error { return printJSON(w, h) }); err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "fence: seed %d breaks %s; fence lab replay plays the history\n", r.First.Seed, h.Invariant)
			if expects(in.scenario, in.mutant.Name, r.First.Violation) {
				return nil
			}
			return errFindings
		},
	}
	f.addRun(cmd, "seed", "begin with seed `N`")
	cmd.Flags().Uint64Var(&seeds, "seeds", 0, "try `N` seeds (default: 1000, or as many as the mutant is caught in)")
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to `FILE`")
	return cmd
}

// defaultSeeds is how many seeds are played unless a mutant needs more.
const defaultSeeds = 1000

// seeds is how many seeds are played if nobody says so.
func (in *labInput) seeds() uint64 { return max(defaultSeeds, in.mutant.Seeds) }

// thousands prints large counts with separators, as people read them.
func thousands(n uint64) string {
	text := strconv.FormatUint(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
