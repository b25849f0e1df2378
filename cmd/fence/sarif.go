package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"honnef.co/go/tools/analysis/lint"

	"github.com/fencelint/fence/analyzers"
	"github.com/fencelint/fence/analyzers/driver"
	"github.com/fencelint/fence/internal/finding"
)

func printSARIF(w io.Writer, r *driver.Result) error {
	name := fromRepository(r.Root)
	top := repositoryOf(r.Root)
	info, _ := debug.ReadBuildInfo()
	return finding.WriteSARIF(w, finding.Rename(r.Findings, name), finding.Run{
		Version: buildVersion(info),
		Rules:   rules(r.Checks),
		Notes:   notes(r, name),
		Trees: []finding.Tree{
			{ID: "GOMODCACHE", About: "The directory that go env GOMODCACHE prints.", Dir: filepath.ToSlash(r.ModCache)},
		},
		Read: func(file string) ([]byte, error) {
			full := filepath.FromSlash(file)
			if !filepath.IsAbs(full) {
				full = filepath.Join(top, full)
			}
			return os.ReadFile(full)
		},
	})
}

// rules documents every code that a finding of these checks can have.
func rules(checks []analyzers.Check) []finding.Rule {
	all := slices.Clone(ownRules)
	for _, c := range checks {
		all = append(all, ruleOf(c))
	}
	slices.SortFunc(all, func(a, b finding.Rule) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// ownRules are the codes that are no checks.
var ownRules = []finding.Rule{
	ownRule(driver.ConfigCode, finding.Warning, "docs/config.md",
		"An entry of fence.yaml names nothing",
		"What an entry names was not found, so it protects nothing: it is misspelt, or the code it was about has changed."),
	ownRule(driver.DirectiveCode, finding.Error, "docs/config.md#directives",
		"A directive in a comment is misspelt, has no reason or silences nothing",
		"A fence directive that is misspelt does nothing, and so does lint:ignore without a reason. One that silences nothing is a warning: it would hide the next finding there."),
}

func ownRule(code string, severity finding.Severity, page, title, text string) finding.Rule {
	return finding.Rule{
		ID: code, Severity: severity, Title: title,
		Summary: text, Text: text, Markdown: text,
		URL: "https://github.com/fencelint/fence/blob/main/" + page,
	}
}

func ruleOf(c analyzers.Check) finding.Rule {
	doc := c.Doc.Compile()
	summary, _, _ := strings.Cut(paragraphs(doc.Text), "\n")
	return finding.Rule{
		ID:       c.Name,
		Title:    doc.Title,
		Summary:  summary,
		Text:     strings.TrimSpace(doc.Format(false)),
		Markdown: markdown(doc, pageURL(c.Name)),
		URL:      pageURL(c.Name),
		Severity: driver.DefaultSeverity(c),
	}
}

// markdown is a check's documentation without its title, which readers show above.
func markdown(doc *lint.Documentation, page string) string {
	text := paragraphs(doc.TextMarkdown)
	if doc.Before != "" {
		text += fmt.Sprintf("\n\nBefore:\n\n```\n%s\n```\n\nAfter:\n\n```\n%s\n```", doc.Before, doc.After)
	}
	return fmt.Sprintf("%s\n\n[The page of this check](%s)", text, page)
}

// paragraphs puts each paragraph on one line: GitHub shows every line break.
func paragraphs(text string) string {
	all := strings.Split(text, "\n\n")
	for i, p := range all {
		all[i] = strings.Join(strings.Fields(p), " ")
	}
	return strings.Join(all, "\n\n")
}

// notes says what a run could not check, as printIncomplete does.
func notes(r *driver.Result, name func(file string) string) []finding.Note {
	var all []finding.Note
	for _, b := range r.Broken {
		for _, e := range b.Errors[:min(mostErrors, len(b.Errors))] {
			at := e.Place
			at.File = name(at.File)
			all = append(all, finding.Note{Message: fmt.Sprintf("%s does not compile: %s", b.Package, e.Message), Place: at})
		}
	}
	for _, n := range r.NotChecked {
		all = append(all, finding.Note{Message: fmt.Sprintf("%s: not checked: %s does not compile", n.Package, n.Import)})
	}
	for _, f := range r.Failures {
		reason, _, _ := strings.Cut(f.Err.Error(), "\n") // the stack is of this build
		all = append(all, finding.Note{Message: fmt.Sprintf("%s: %s failed: %s", f.Package, f.Check, reason)})
	}
	return all
}
