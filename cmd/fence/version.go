package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print fence's version and the Go it was built with",
		Example: `  fence version`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			info, _ := debug.ReadBuildInfo()
			_, err := fmt.Fprintln(cmd.OutOrStdout(), versionLine(info))
			return err
		},
	}
}

// versionLine is what fence version prints. Its Go version matters: fence reads
// no module that needs a newer one.
func versionLine(info *debug.BuildInfo) string {
	if info == nil {
		return "fence " + buildVersion(info)
	}
	line := fmt.Sprintf("fence %s %s", buildVersion(info), info.GoVersion)
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			line += " " + s.Value
		}
	}
	return line
}

// buildVersion is the version alone.
func buildVersion(info *debug.BuildInfo) string {
	switch {
	case info == nil:
		return "(unknown build)"
	case info.Main.Version == "":
		return "(devel)"
	}
	return info.Main.Version
}
