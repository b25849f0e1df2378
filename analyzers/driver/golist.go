package driver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// goCommand runs the go command for the questions go/packages does not answer.
type goCommand struct {
	ctx context.Context
	dir string
	env []string
}

// goPlace is what the go command says about the directory it runs in.
type goPlace struct {
	GOMOD      string // the go.mod file; empty or the null device outside a module
	GOWORK     string // the go.work file; empty or "off" without one
	GOMODCACHE string // the directory of the modules that were downloaded
}

func (g goCommand) run(args ...string) ([]byte, error) {
	cmd := exec.CommandContext(g.ctx, "go", args...)
	cmd.Dir = g.dir
	if g.env != nil {
		// What os/exec does without an environment: a directory reached through a
		// symbolic link keeps the name go list gives to its files.
		cmd.Env = append(slices.Clip(g.env), "PWD="+g.dir)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err == nil {
		return out, nil
	}
	if g.ctx.Err() != nil {
		return nil, g.ctx.Err()
	}
	if errors.Is(err, exec.ErrNotFound) {
		return nil, &LoadError{Problem: "the go command is not in $PATH", Fix: "install Go: https://go.dev/dl"}
	}
	if stderr.Len() > 0 {
		return nil, explainLoad(stderr.String())
	}
	return nil, &LoadError{Problem: fmt.Sprintf("running go %s: %v", args[0], err)}
}

func (g goCommand) where() (goPlace, error) {
	var p goPlace
	out, err := g.run("env", "-json", "GOMOD", "GOWORK", "GOMODCACHE")
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(out, &p); err != nil {
		return p, fmt.Errorf("reading what go env says: %w", err)
	}
	return p, nil
}

// root is the directory that findings' files count from: of the workspace, else
// of the module, else the one the run was started for.
func (p goPlace) root(dir string) string {
	if p.GOWORK != "" && p.GOWORK != "off" {
		return filepath.Dir(p.GOWORK)
	}
	if filepath.Base(p.GOMOD) == "go.mod" {
		return filepath.Dir(p.GOMOD)
	}
	return dir
}

// unmatched fails if a pattern matched none of the n loaded packages, on which
// the go command only comments.
func (g goCommand) unmatched(patterns, flags []string, n int) error {
	wild := func(pattern string) bool { return strings.Contains(pattern, "...") }
	switch {
	case n == 0 && len(patterns) == 1:
		return matchesNothing(patterns[0])
	case n > 0 && (len(patterns) == 1 || !slices.ContainsFunc(patterns, wild)):
		return nil // a pattern without dots that names nothing is a package with an error
	}
	args := append([]string{"list", "-e", "-find", "-f", `{{range .Match}}{{println .}}{{end}}`}, flags...)
	out, err := g.run(append(append(args, "--"), patterns...)...)
	if err != nil {
		return err
	}
	matched := make(map[string]bool)
	for line := range strings.Lines(string(out)) {
		matched[strings.TrimSpace(line)] = true
	}
	for _, pattern := range patterns {
		if wild(pattern) && !matched[pattern] {
			return matchesNothing(pattern)
		}
	}
	return nil
}

func matchesNothing(pattern string) error {
	return &UsageError{
		Problem: fmt.Sprintf("%s matches no packages", pattern),
		Fix:     "patterns are those of go list; packages without a file for these build tags do not count",
	}
}

// complaint is a failure of the go command that users can mend.
type complaint struct {
	says  string // part of what the go command prints
	usage bool   // the pattern is at fault, not the tree
	fix   string
}

// complaints is read in order.
var complaints = [...]complaint{
	{says: "(running go ", fix: "install that Go, or set GOTOOLCHAIN=auto to let the go command fetch it; then rebuild fence with it"},
	{says: "updates to go.mod needed", fix: "run go mod tidy"},
	{says: "missing go.sum entry", fix: "run go mod tidy"},
	{says: "not supported (can be '', 'mod'", usage: true, fix: "correct -mod in GOFLAGS"},
	{says: "go.mod file not found", usage: true, fix: "run fence in a module, or name its directory with -C; go mod init makes one"},
	{says: "does not contain main module", usage: true, fix: "run fence in a module, or name its directory with -C; in a workspace, add the module with go work use"},
	{says: "does not contain modules listed in go.work", usage: true, fix: "add the module with go work use, or set GOWORK=off"},
	{says: "outside main module", usage: true, fix: "run fence in that module, or name its directory with -C"},
	{says: "outside modules listed in go.work", usage: true, fix: "add the module with go work use, or set GOWORK=off"},
	{says: "build constraints exclude all Go files", usage: true, fix: "set the build tags it needs with --tags, or GOOS and GOARCH"},
	{says: "no Go files in", usage: true},
	{says: "no required module provides package", usage: true},
	{says: "is not in std", usage: true, fix: "a directory is named with a leading ./"},
	{says: "directory not found", usage: true},
	{says: "no such file or directory", usage: true},
	{says: "malformed import path", usage: true},
	{says: "cannot find module providing package", usage: true},
}

// explainLoad turns what the go command printed into an error with a fix.
func explainLoad(text string) error {
	text = goText(text)
	for _, c := range complaints {
		if !strings.Contains(text, c.says) {
			continue
		}
		if c.usage {
			return &UsageError{Problem: text, Fix: c.fix}
		}
		return &LoadError{Problem: text, Fix: c.fix}
	}
	return &LoadError{Problem: text}
}

// explainPattern is explainLoad for a pattern that names no package: that is
// never the fault of the tree.
func explainPattern(text string) error {
	err := explainLoad(text)
	var load *LoadError
	if errors.As(err, &load) {
		return &UsageError{Problem: load.Problem, Fix: load.Fix}
	}
	return err
}

// goText strips what go/packages and the go command put around a message.
func goText(text string) string {
	if _, after, ok := strings.Cut(text, "stderr: "); ok && strings.HasPrefix(text, "err: ") {
		text = after
	}
	var lines []string
	for line := range strings.Lines(strings.TrimSpace(text)) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "go: downloading ") || strings.TrimSpace(line) == "" {
			continue
		}
		lines = append(lines, strings.TrimPrefix(line, "go: "))
	}
	return strings.Join(lines, "\n")
}
