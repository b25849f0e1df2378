package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/fencelint/fence/analyzers"
	"github.com/fencelint/fence/analyzers/driver"
)

func newExplain() *cobra.Command {
	return &cobra.Command{
		Use:   "explain [check]",
		Short: "Explain a check, or list all",
		Example: `  fence explain
  fence explain wallclockexpiry`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return &driver.UsageError{Problem: "fence explain takes one check", Fix: "fence explain lists them"}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
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
