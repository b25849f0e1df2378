package lab

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// The pages name scenarios, mutants and invariants that exist, and every one is on a page.
func TestDocsNameWhatExists(t *testing.T) {
	var known []string
	scenarios, err := Scenarios()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scenarios {
		known = append(known, s.Name)
	}
	for _, m := range Mutants {
		known = append(known, m.Name)
	}
	for _, i := range Invariants {
		known = append(known, i.Name)
	}
	named := map[string]bool{}
	for page, every := range map[string]*regexp.Regexp{
		"liveness-and-safety.md":               regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\||mutant\\s+`([a-z-]+)`"),
		"mutation-interface.md":                regexp.MustCompile("(?:mutant|scenario)s? `([a-z-]+)`"),
		"when-to-choose-something-stronger.md": regexp.MustCompile("scenarios? `([a-z-]+)`"),
		"review-checklist.md":                  regexp.MustCompile("fence lab (?:run|explore) ([a-z-]+)"),
		"invariants.md":                        regexp.MustCompile("(?m)^\\|[^|]*\\|[^|]*\\| `([a-z-]+)`(?:, `([a-z-]+)`)? \\|"),
	} {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
		if os.IsNotExist(err) {
			t.Skip("the module was downloaded without the repository's docs: run it in a clone of the repository")
		}
		if err != nil {
			t.Fatal(err)
		}
		found := every.FindAllStringSubmatch(string(text), -1)
		if len(found) == 0 {
			t.Errorf("%s names nothing", page)
		}
		for _, m := range found {
			for _, name := range m[1:] {
				if name == "" {
					continue
				}
				named[name] = true
				if !slices.Contains(known, name) {
					t.Errorf("%s names %s, which does not exist", page, name)
				}
			}
		}
	}
	for _, i := range Invariants {
		if !named[i.Name] {
			t.Errorf("invariants.md does not name %s", i.Name)
		}
	}
}
