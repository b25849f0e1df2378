package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/fencelint/fence/analyzers/driver"
	"github.com/fencelint/fence/gen"
	"github.com/fencelint/fence/gen/verify"
	"github.com/fencelint/fence/internal/config"
	"github.com/fencelint/fence/internal/database"
	"github.com/fencelint/fence/internal/finding"
)

// verifyFlags are the flags of fence verify as typed.
type verifyFlags struct {
	dsn, config, format string
	counter             int64
	counted             bool // counter was given
}

func newVerify(dir *string) *cobra.Command {
	var f verifyFlags
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Compare a live database with what the writers need",
		Long: `Verify compares a live database with the schema and fence.yaml, and lists what
would make fencing fail there: tables and columns that are missing or of another
kind, guard rows that guard nothing, triggers that do not run. It only reads.

The DSN is that of the dialect in fence.yaml: postgres://..., for MariaDB and MySQL
user:password@tcp(host:3306)/database, for SQLite a path or a file: URI. Give it
the settings that the program has: they are verified too.

The exit status is 2 if the command line, fence.yaml or the schema is at fault,
3 if the database cannot be read, 1 if there are problems, else 0.`,
		Example: `  fence verify --dsn "$DATABASE_URL"
  fence verify --dsn 'app:secret@tcp(db:3306)/orders' --config deploy/fence.yaml
  fence verify --dsn app.db --counter 4711   # is a restored coordinator behind?
  fence verify --dsn app.db -f json | jq -r .message`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 { // it is not printed: it may hold a password
				return &driver.UsageError{Problem: "fence verify takes no argument", Fix: "write --dsn before the database"}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.counted = cmd.Flags().Changed("counter")
			return f.run(cmd.Context(), *dir, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.dsn, "dsn", "", "the database, as its driver names it; never printed")
	flags.StringVar(&f.config, "config", "", "read `FILE` instead of the nearest fence.yaml")
	flags.Int64Var(&f.counter, "counter", 0, "report tokens above `N`, the largest one the coordinator has granted")
	flags.StringVarP(&f.format, "format", "f", "text", "print problems as `FORMAT`: text or json")
	return cmd
}

// run verifies one database.
func (f *verifyFlags) run(ctx context.Context, dir string, stdout, stderr io.Writer) error {
	switch {
	case f.dsn == "":
		return &driver.UsageError{Problem: "fence verify needs the database", Fix: "write --dsn and its DSN; fence verify -h shows examples"}
	case f.format != "text" && f.format != "json":
		return notOneOf("--format", f.format, "text", "json")
	case f.counter < 0:
		return &driver.UsageError{Problem: "--counter is negative, and tokens are not", Fix: "write the largest token that the coordinator has granted"}
	}
	file, err := configFile(dir, f.config)
	if err != nil {
		return err
	}
	in, err := gen.Read(file)
	if err != nil {
		return err
	}
	problems, err := f.problems(ctx, in, dir)
	if err != nil {
		return err
	}
	if len(problems) == 0 {
		fmt.Fprintf(stderr, "fence: %s verified\n", count(len(in.Plan.Tables), "table"))
		return nil
	}
	if err := f.print(stdout, problemFindings(problems, in.Config.File), dir); err != nil {
		return fmt.Errorf("printing problems: %w", err)
	}
	return errFindings
}

// problems compares the database.
func (f *verifyFlags) problems(ctx context.Context, in *gen.Input, dir string) ([]verify.Problem, error) {
	db, err := database.Open(in.Plan.Dialect, f.dsn, dir, database.ReadOnly)
	var bad *database.DSNError
	switch {
	case errors.As(err, &bad):
		return nil, &driver.UsageError{Problem: "--dsn: " + bad.Problem, Fix: bad.Fix, Err: err}
	case err != nil:
		return nil, unverified(err)
	}
	defer db.Close()
	var opts verify.Options
	if f.counted {
		opts.Counter = &f.counter
	}
	problems, err := verify.Database(ctx, db, in.Plan, in.Schema, opts)
	if err != nil {
		return nil, unverified(err)
	}
	return problems, nil
}

// unverified is the error of a database that cannot be read.
func unverified(err error) error {
	return &driver.LoadError{Problem: "the database was not verified: " + err.Error()}
}

// problemFindings are problems as findings. What is of no table is said of fence.yaml.
func problemFindings(problems []verify.Problem, configFile string) []finding.Finding {
	all := make([]finding.Finding, len(problems))
	for i, p := range problems {
		at := cmp.Or(p.Pos, config.Pos{File: configFile, Line: 1, Column: 1})
		place := finding.Place{File: at.File, Line: at.Line, Column: at.Column}
		all[i] = finding.Finding{Code: string(p.Kind), Severity: finding.Error, Location: place, End: place, Message: p.Message + ": " + p.Fix}
	}
	return all
}

// print prints problems, in JSON with file names that count from the module's root.
func (f *verifyFlags) print(w io.Writer, all []finding.Finding, dir string) error {
	if f.format == "text" {
		return finding.WriteText(w, all, finding.TextOptions{})
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	root := moduleRoot(abs)
	return finding.WriteJSON(w, finding.Rename(all, func(file string) string {
		full, err := filepath.Abs(file)
		if err != nil {
			return filepath.ToSlash(file)
		}
		if rel, err := filepath.Rel(root, full); err == nil && filepath.IsLocal(rel) {
			full = rel
		}
		return filepath.ToSlash(full)
	}))
}
