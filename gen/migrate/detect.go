package migrate

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// headSize is how much of a file is searched for the marks of a tool, which stand at its
// top.
const headSize = 16 << 10

// A trace gives a migration tool away.
type trace struct {
	tool    string
	format  Format // empty: fence writes no migrations for it
	name    *regexp.Regexp
	content *regexp.Regexp // nil: the name is enough
}

var sqlFile = regexp.MustCompile(`(?i)\.sql$`)

var traces = []trace{
	{"golang-migrate", GolangMigrate, regexp.MustCompile(`(?i)^\d+_.*\.(?:up|down)\.sql$`), nil},
	{"goose", Goose, sqlFile, regexp.MustCompile(`(?im)^\s*--\s*\+goose\s+up\b`)},
	{"goose", Goose, regexp.MustCompile(`\.go$`), regexp.MustCompile(`\bgoose\.Add(?:Named)?Migration`)},
	{"dbmate", Dbmate, sqlFile, regexp.MustCompile(`(?im)^\s*--\s*migrate:up\b`)},
	{"sql-migrate", "", sqlFile, regexp.MustCompile(`(?im)^\s*--\s*\+migrate\s+up\b`)},
	{"tern", "", sqlFile, regexp.MustCompile(`(?im)^----\s*create above\s*/\s*drop below\s*----`)},
	{"Flyway", "", regexp.MustCompile(`^[VUR][\d._]*__.*\.sql$`), nil},
}

// Detect is the format of the migrations in a directory: that of its newest file that
// gives a tool away. A directory that is empty, or that is not there yet, is plain.
func Detect(dir string) (Format, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Plain, nil
	}
	if err != nil {
		return "", fmt.Errorf("looking for migrations: %w", err)
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	sortNaturally(names)
	for _, name := range slices.Backward(names) {
		t, err := traceOf(dir, name)
		switch {
		case err != nil:
			return "", fmt.Errorf("looking for migrations: %w", err)
		case t == nil:
		case t.format == "":
			return "", fmt.Errorf("%s is a migration of %s, for which fence gen writes none: write generate: {format: plain, migrations: a directory of its own}, and turn into the tool's form what it writes there",
				filepath.Join(dir, name), t.tool)
		default:
			return t.format, nil
		}
	}
	return Plain, nil
}

// traceOf is what a file gives away, or nil.
func traceOf(dir, name string) (*trace, error) {
	var head []byte
	for i, t := range traces {
		if !t.name.MatchString(name) {
			continue
		}
		if t.content == nil {
			return &traces[i], nil
		}
		if head == nil {
			var err error
			if head, err = readHead(filepath.Join(dir, name)); err != nil {
				return nil, err
			}
		}
		if t.content.Match(head) {
			return &traces[i], nil
		}
	}
	return nil, nil
}

func readHead(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, headSize))
}
