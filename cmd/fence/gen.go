package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/fencelint/fence/analyzers/driver"
	"github.com/fencelint/fence/gen"
	"github.com/fencelint/fence/internal/config"
)

func newGen(dir *string) *cobra.Command {
	var path string
	var check bool
	cmd := &cobra.Command{
		Use:   "gen",
		Short: "Generate typed writers whose SQL compares the token",
		Long: `Gen writes the package that fence.yaml describes under generate: a writer for
each protected table, whose statements compare the token in the same atomic step
as the change. It reads the schema's SQL and asks no database.

With --check nothing is written: what would change is printed as a unified diff,
files of tables that are gone included, and the exit status is 1.`,
		Example: `  fence gen
  fence gen --check
  //go:generate go run github.com/fencelint/fence/cmd/fence gen`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			file, err := configFile(*dir, path)
			if err != nil {
				return err
			}
			info, _ := debug.ReadBuildInfo()
			r, err := gen.Load(file, buildVersion(info))
			if err != nil {
				return err
			}
			if check {
				return checkGenerated(cmd.OutOrStdout(), cmd.ErrOrStderr(), r)
			}
			changes, err := r.Write()
			if err != nil {
				return err
			}
			for _, c := range changes {
				fmt.Fprintf(cmd.ErrOrStderr(), "fence: %s %s\n", done(c), c.Path)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&path, "config", "", "read `FILE` instead of the nearest fence.yaml")
	cmd.Flags().BoolVar(&check, "check", false, "write nothing; print a diff and exit with 1 if anything would change")
	return cmd
}

// configFile is the fence.yaml to read: the one named, or the nearest one from dir to
// the root of its module.
func configFile(dir, named string) (string, error) {
	if dir == "" {
		dir = "."
	}
	if named != "" {
		if !filepath.IsAbs(named) {
			named = filepath.Join(dir, named)
		}
		return named, nil
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("looking for %s: %w", config.FileName, err)
	}
	path, ok, err := config.Find(abs, moduleRoot(abs))
	if err != nil {
		return "", err
	}
	if !ok {
		return "", &driver.UsageError{Problem: "there is no " + config.FileName + " in " + dir + " or above, up to its module's root",
			Fix: "write one (docs/config.md), or name it with --config"}
	}
	if rel, err := filepath.Rel(abs, path); err == nil && named == "" {
		path = filepath.Join(dir, rel)
	}
	return path, nil
}

// moduleRoot is the nearest directory from dir up that has a go.mod, else dir.
func moduleRoot(dir string) string {
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(filepath.Join(d, "go.mod")); err == nil {
			return d
		}
		if d == filepath.Dir(d) {
			return dir
		}
	}
}

// checkGenerated prints what writing would change.
func checkGenerated(stdout, stderr io.Writer, r *gen.Result) error {
	changes, err := r.Changes()
	if err != nil || len(changes) == 0 {
		return err
	}
	for _, c := range changes {
		old := filepath.ToSlash(c.Path)
		generated := old
		if c.Old == nil {
			old = os.DevNull
		}
		if c.New == nil {
			generated = os.DevNull
		}
		if _, err := stdout.Write(diff.Diff(old, c.Old, generated, c.New)); err != nil {
			return fmt.Errorf("printing the diff: %w", err)
		}
	}
	fmt.Fprintf(stderr, "fence: %s not up to date; run fence gen\n", count(len(changes), "generated file"))
	return errFindings
}

func done(c gen.Change) string {
	switch {
	case c.New == nil:
		return "deleted"
	case c.Old == nil:
		return "made"
	}
	return "changed"
}
