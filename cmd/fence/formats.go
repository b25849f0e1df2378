package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/fencelint/fence/analyzers/driver"
	"github.com/fencelint/fence/internal/finding"
)

// outputFormat is one way to print what a run found.
type outputFormat struct {
	name  string
	print func(io.Writer, *driver.Result) error
}

// formats are the values of --format, in the order they are listed in. A new one is
// a line here and a section of docs/formats.md.
var formats = []outputFormat{
	{"text", func(w io.Writer, r *driver.Result) error {
		return finding.WriteText(w, r.Findings, finding.TextOptions{Path: fromHere(r.Root)})
	}},
	{"json", func(w io.Writer, r *driver.Result) error {
		return finding.WriteJSON(w, r.Findings)
	}},
	{"sarif", printSARIF},
	{"github", func(w io.Writer, r *driver.Result) error {
		return finding.WriteGitHub(w, finding.Rename(r.Findings, fromRepository(r.Root)))
	}},
	{"gitlab", func(w io.Writer, r *driver.Result) error {
		return finding.WriteGitLab(w, finding.Rename(r.Findings, fromRepository(r.Root)))
	}},
}

func formatNames() []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.name
	}
	return names
}

// lookupFormat returns the format of that name.
func lookupFormat(name string) (outputFormat, error) {
	for _, f := range formats {
		if f.name == name {
			return f, nil
		}
	}
	return outputFormat{}, notOneOf("--format", name, formatNames()...)
}

// fromRepository returns a function that turns a file name relative to root into
// one that counts from the repository's root, as code hosts count. An absolute name
// stays one outside the repository.
func fromRepository(root string) func(file string) string {
	top := repositoryOf(root)
	return func(file string) string {
		if file == "" {
			return ""
		}
		full := filepath.FromSlash(file)
		if !filepath.IsAbs(full) {
			full = filepath.Join(root, full)
		}
		rel, err := filepath.Rel(top, full)
		if err != nil || filepath.IsAbs(filepath.FromSlash(file)) && !filepath.IsLocal(rel) {
			return filepath.ToSlash(full)
		}
		return filepath.ToSlash(rel)
	}
}

// repositoryOf returns the nearest directory above dir that git works in, or dir if there
// is none.
func repositoryOf(dir string) string {
	for top := dir; ; top = filepath.Dir(top) {
		// A file in a worktree or submodule, else a directory.
		if _, err := os.Stat(filepath.Join(top, ".git")); err == nil {
			return top
		}
		if top == filepath.Dir(top) {
			return dir
		}
	}
}

// oneOf lists names as in a sentence: a, b or c.
func oneOf(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
