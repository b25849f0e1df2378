package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/fencelint/fence/analyzers"
	"github.com/fencelint/fence/analyzers/driver"
	"github.com/fencelint/fence/internal/finding"
	"github.com/fencelint/fence/internal/suggest"
)

// checkFlags are the flags of fence check as typed.
type checkFlags struct {
	format  string
	checks  string
	fail    string
	options driver.Options
	profile profileFlags
	bounds  bool
	writes  bool
}

func newCheck(dir *string) *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check [packages]",
		Short: "Check packages",
		Long: `Check reports writes that the stale owner of a lease could still make.

Packages are named as for go build; the default is ./... . They are read from
source, what they import from export data. Configuration is the nearest
fence.yaml above each package, up to its module's root; none is needed.

Findings name files as they are opened from the current directory; with -f json,
relative to the root of the module or workspace; in the formats of code hosts,
relative to the root of the repository.

The exit status is 2 if the command line or the configuration is at fault,
else 3 if a package does not compile, else 1 if there are findings, else 0.`,
		Example: `  fence check
  fence check ./internal/... ./cmd/worker
  fence check -C ../billing --tags integration --tests
  fence check --checks default,-wallclockexpiry
  fence check -f json ./... | jq -r .message
  fence check -f sarif > fence.sarif`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.options.Dir = *dir
			f.options.Patterns = args
			return f.run(cmd)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.format, "format", "f", "text", "print findings as `FORMAT`: "+oneOf(formatNames()))
	flags.StringVar(&f.checks, "checks", "default", "run `CHECKS`: default, all, NAME or -NAME, separated by commas")
	flags.StringVar(&f.fail, "fail", string(finding.Error), "exit with 1 from `SEVERITY` on: error or warning")
	flags.BoolVar(&f.options.Tests, "tests", false, "check test files too")
	flags.StringVar(&f.options.Tags, "tags", "", "build `TAGS`, separated by commas")
	flags.StringVar(&f.options.ConfigFile, "config", "", "read `FILE` instead of the nearest fence.yaml")
	flags.BoolVar(&f.options.Strict, "strict", false, "report writes that cannot be proven fenced, too")
	f.profile.add(flags)
	flags.BoolVar(&f.writes, "debug.writes", false, "print every write to what is protected, and what protects it")
	flags.BoolVar(&f.bounds, "debug.bounds", false, "print how often the analysis stopped at one of its bounds")
	return cmd
}

// holdMemory makes the garbage collector run sooner than its default, unless GOGC
// says what the user wants: on a million lines a quarter less memory for hardly any
// more time.
func holdMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(60)
	}
}

func (f *checkFlags) run(cmd *cobra.Command) error {
	format, err := lookupFormat(f.format)
	if err != nil {
		return err
	}
	if !slices.Contains([]string{string(finding.Error), string(finding.Warning)}, f.fail) {
		return notOneOf("--fail", f.fail, string(finding.Error), string(finding.Warning))
	}
	selected, err := driver.Select(analyzers.All(), f.checks)
	if err != nil {
		return err
	}
	f.options.Checks = selected
	stop, err := f.profile.start()
	if err != nil {
		return err
	}

	holdMemory()
	begin := time.Now()
	status := newStatusLine(cmd.ErrOrStderr())
	f.options.Progress = status.show
	result, err := driver.Run(cmd.Context(), f.options)
	status.clear()
	if stopErr := stop(); err == nil {
		err = stopErr
	}
	if err != nil {
		return err
	}
	if err := format.print(cmd.OutOrStdout(), result); err != nil {
		return fmt.Errorf("printing findings: %w", err)
	}
	printIncomplete(cmd.ErrOrStderr(), result)
	if f.writes {
		printWrites(cmd.ErrOrStderr(), result)
	}
	if f.bounds {
		printBounds(cmd.ErrOrStderr(), result)
	}
	status.print(summary(result, time.Since(begin)))
	return verdict(result, finding.Severity(f.fail))
}

func notOneOf(flag, got string, want ...string) error {
	fix := "use " + oneOf(want)
	if hint := suggest.Hint(got, want, ""); hint != "" {
		fix = hint + "\n" + fix
	}
	return &driver.UsageError{Problem: fmt.Sprintf("%s %s is not known", flag, got), Fix: fix}
}

// summary says in one line what a run did.
func summary(r *driver.Result, took time.Duration) string {
	return fmt.Sprintf("%s in %s, %.1fs",
		count(len(r.Findings), "finding"), count(r.Packages, "package"), took.Seconds())
}

func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
