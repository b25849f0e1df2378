package emit

import (
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/imports"
)

// What every writer of a package needs is not printed but kept as text, in fragments: a
// generated package has those that its writers use, and no other.
//
//go:embed support/*.txt
var support embed.FS

// declared are the names that the supporting texts declare.
var declared = sync.OnceValues(func() (map[string]bool, error) {
	names := map[string]bool{}
	entries, err := support.ReadDir("support")
	if err != nil {
		return nil, fmt.Errorf("listing the supporting texts: %w", err)
	}
	for _, e := range entries {
		data, err := support.ReadFile("support/" + e.Name())
		if err != nil {
			return nil, fmt.Errorf("reading a supporting text: %w", err)
		}
		for _, m := range declaration.FindAllSubmatch(data, -1) {
			names[string(m[1])] = true
		}
	}
	return names, nil
})

var declaration = regexp.MustCompile(`(?m)^(?:func|type|var|const) (\w+)`)

// A fragment is a part of a supporting file: "-- name: needs needs" and its text.
type fragment struct {
	name  string
	needs []string
	text  string
}

// fragments are those of one file, in its order.
func fragments(file string) ([]fragment, error) {
	data, err := support.ReadFile("support/" + file + ".txt")
	if err != nil {
		return nil, fmt.Errorf("reading a supporting text: %w", err)
	}
	var all []fragment
	for _, part := range strings.Split("\n"+string(data), "\n-- ")[1:] {
		head, text, _ := strings.Cut(part, "\n")
		name, needs, _ := strings.Cut(head, ":")
		all = append(all, fragment{name, strings.Fields(needs), text})
	}
	return all, nil
}

// uses are the fragments that a package needs.
type uses map[string]bool

// with adds what the fragments in u need.
func (u uses) with(all []fragment) {
	for grew := true; grew; {
		grew = false
		for _, f := range all {
			for _, need := range f.needs {
				if u[f.name] && !u[need] {
					u[need], grew = true, true
				}
			}
		}
	}
}

// supportFile is a file of the fragments that are used, in a package.
func supportFile(file, pkg string, used uses, on map[string]bool, words map[string]string) ([]byte, error) {
	all, err := fragments(file)
	if err != nil {
		return nil, err
	}
	used.with(all)
	var body strings.Builder
	for _, f := range all {
		if used[f.name] {
			body.WriteString("\n" + f.text + "\n")
		}
	}
	text := conditional(body.String(), on)
	for _, word := range slices.Sorted(keys(words)) {
		text = strings.ReplaceAll(text, word, words[word])
	}
	doc := ""
	if file == "writer" {
		doc = "// Package " + pkg + " writes the tables that tokens protect: each write compares the token of its\n" +
			"// grant in the same atomic step as it changes a row.\n"
	}
	return format(file+suffix, []byte(header+"\n\n"+doc+"package "+pkg+"\n\n"+importBlock(text)+text))
}

func keys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// conditional keeps what stands between "//if NAME" and "//end" only where NAME is on, and
// what comes after "//else" only where it is not: runtime, where the schema is chosen at run
// time, and pgx, which is the driver then.
func conditional(text string, on map[string]bool) string {
	var out []string
	skip := false
	for line := range strings.Lines(text) {
		mark := strings.TrimSpace(line)
		name, isIf := strings.CutPrefix(mark, "//if ")
		switch {
		case isIf:
			skip = !on[name]
		case mark == "//else":
			skip = !skip
		case mark == "//end":
			skip = false
		case !skip:
			out = append(out, line)
		}
	}
	return strings.Join(out, "")
}

// packages are those a supporting text may use.
var packages = []string{
	"context", "database/sql", "database/sql/driver", "encoding/hex", "encoding/json", "errors", "fmt", "os", "path/filepath", "reflect", "strconv", "strings", "sync", "testing", "time", fencedbPath, mysqlPath, pgxPath, pgxPath + "/pgconn", pgxPath + "/pgxpool",
}

const (
	fencedbPath = "github.com/fencelint/fence/fencedb"
	mysqlPath   = "github.com/go-sql-driver/mysql"
	pgxPath     = "github.com/jackc/pgx/v5"
)

// importBlock imports the packages that text uses, outside of comments.
func importBlock(text string) string {
	text = regexp.MustCompile(`(?m)^\s*//.*$`).ReplaceAllString(text, "")
	var lines []string
	for _, path := range packages {
		if regexp.MustCompile(`\b` + base(path) + `\.[A-Z]`).MatchString(text) {
			lines = append(lines, fmt.Sprintf("\t%q\n", path))
		}
	}
	return "import (\n" + strings.Join(lines, "") + ")\n\n"
}

// format is source as goimports and gofmt leave it.
func format(name string, source []byte) ([]byte, error) {
	out, err := imports.Process(name, source, &imports.Options{FormatOnly: true, Comments: true, TabIndent: true, TabWidth: 8})
	if err != nil {
		return nil, fmt.Errorf("formatting %s: %w", name, err)
	}
	return out, nil
}
