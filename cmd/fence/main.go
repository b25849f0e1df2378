// Fence finds writes that the stale owner of a lease could still make.
//
// Each verb has a file of its own that turns flags into one call. Findings go
// to standard output, everything else to standard error; see exit.go for the
// exit status.
//
// The go command may run this program as a vettool: go vet -vettool.
package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fencelint/fence/analyzers/driver"
)

func main() {
	if driver.IsVet(os.Args[1:]) {
		driver.Vet()
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run executes one command line and returns its exit status.
func run(args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.Execute()
	if err != nil && !reported(err) {
		fmt.Fprintf(stderr, "fence: %s\n", indent(err.Error()))
	}
	return exitStatus(err)
}

// newRoot returns the command tree.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "fence",
		Short:         "Find writes that the stale owner of a lease could still make",
		SilenceErrors: true, // run prints them
		SilenceUsage:  true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &driver.UsageError{Problem: err.Error(), Fix: cmd.CommandPath() + " -h shows the flags", Err: err}
	})
	dir := root.PersistentFlags().StringP("dir", "C", "", "run as if started in `DIR`")
	withVerbs(root, newCheck(dir), newGen(dir), newVerify(dir), newStatus(dir), newLease(dir), newLab(dir), newExplain(dir), newVersion())
	return root
}

// withVerbs gives a command its verbs. Without one it prints its help, as an error.
func withVerbs(cmd *cobra.Command, verbs ...*cobra.Command) {
	cmd.SuggestionsMinimumDistance = 2
	cmd.Args = cobra.ArbitraryArgs // an unknown verb arrives as an argument
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownVerb(cmd, args[0])
		}
		cmd.SetOut(cmd.ErrOrStderr())
		if err := cmd.Help(); err != nil {
			return err
		}
		return errNoVerb
	}
	cmd.AddCommand(verbs...)
}

func unknownVerb(root *cobra.Command, name string) error {
	err := &driver.UsageError{Problem: fmt.Sprintf("unknown verb %q", name), Fix: root.CommandPath() + " -h lists the verbs"}
	if near := root.SuggestionsFor(name); len(near) > 0 {
		path := root.CommandPath() + " "
		err.Fix = "did you mean " + path + strings.Join(near, " or "+path) + "?"
	}
	return err
}

// noArgs is cobra.NoArgs with an error like all others.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return &driver.UsageError{
			Problem: fmt.Sprintf("%s takes no argument, got %q", cmd.CommandPath(), args[0]),
			Fix:     cmd.CommandPath() + " -h shows its flags",
		}
	}
	return nil
}
