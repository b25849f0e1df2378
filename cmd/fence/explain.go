package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/fencelint/fence/analyzers"
	"github.com/fencelint/fence/analyzers/driver"
	"github.com/fencelint/fence/gen"
	"github.com/fencelint/fence/internal/suggest"
)

func newExplain(dir *string) *cobra.Command {
	var table, path, at string
	cmd := &cobra.Command{
		Use:   "explain [check]",
		Short: "Explain a check, or list all; play a finding; show the SQL of a generated writer",
		Example: `  fence explain
  fence explain wallclockexpiry
  fence explain --sql orders
  fence explain --timeline scheduler/run.go:109`,
		Args: func(_ *cobra.Command, args []string) error {
			named := len(args)
			for _, flag := range []string{table, at} {
				if flag != "" {
					named++
				}
			}
			if named > 1 {
				return &driver.UsageError{Problem: "fence explain takes one check, --sql and a table, or --timeline and a line", Fix: "fence explain lists the checks"}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if table != "" {
				return explainSQL(cmd.OutOrStdout(), *dir, path, table)
			}
			if at != "" {
				return explainTimeline(cmd.Context(), cmd.OutOrStdout(), *dir, at)
			}
			if len(args) == 0 {
				return listChecks(cmd.OutOrStdout(), analyzers.All())
			}
			check, err := driver.Lookup(analyzers.All(), args[0])
			if err != nil {
				return err
			}
			return explain(cmd.OutOrStdout(), check)
		},
	}
	cmd.Flags().StringVar(&table, "sql", "", "show the statements of the writer that fence gen makes for `TABLE`")
	cmd.Flags().StringVar(&at, "timeline", "", "play what the finding at `FILE:LINE` is about, with its lines at the events")
	cmd.Flags().StringVar(&path, "config", "", "read `FILE` instead of the nearest fence.yaml, for --sql")
	return cmd
}

// explainSQL prints the statements of a table's writer.
func explainSQL(w io.Writer, dir, path, table string) error {
	file, err := configFile(dir, path)
	if err != nil {
		return err
	}
	in, err := gen.Read(file)
	if err != nil {
		return err
	}
	var names []string
	for _, t := range in.Plan.Tables {
		if strings.EqualFold(t.Name, table) || strings.EqualFold(t.Schema+"."+t.Name, table) {
			_, err := io.WriteString(w, t.Explain())
			return err
		}
		names = append(names, t.Name)
	}
	return &driver.UsageError{Problem: fmt.Sprintf("no writer is generated for a table %s", table),
		Fix: suggest.Hint(table, names, "there are writers for "+strings.Join(names, ", "))}
}

// listChecks prints the name and title of each check.
func listChecks(w io.Writer, checks []analyzers.Check) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range checks {
		title := c.Doc.Compile().Title
		if c.Doc.NonDefault {
			title += " (off by default)"
		}
		fmt.Fprintf(table, "%s\t%s\n", c.Name, title)
	}
	return table.Flush()
}

// explain prints a check's documentation.
func explain(w io.Writer, c analyzers.Check) error {
	text := strings.TrimSpace(c.Doc.Compile().Format(false))
	_, err := fmt.Fprintf(w, "%s: %s\n\nSeverity: %s\nPage: %s\n", c.Name, text, severity(c), pageURL(c.Name))
	return err
}

func severity(c analyzers.Check) string {
	s := string(driver.DefaultSeverity(c))
	if c.Doc.NonDefault {
		s += ", off by default"
	}
	return s
}

// pageURL is where a check is documented at length.
func pageURL(check string) string {
	return "https://github.com/fencelint/fence/blob/main/docs/checks/" + check + ".md"
}
