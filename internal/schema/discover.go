package schema

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// maxEntries bounds the walk; the largest repositories we know have half.
	maxEntries = 200_000
	// headSize is how much of a file is searched for the marks of a migration
	// tool, which stand at its top.
	headSize = 16 << 10
)

// unvisited are directories that hold other people's schemas, or none that a
// program runs.
var unvisited = map[string]bool{"vendor": true, "testdata": true, "node_modules": true}

// Discover is the directories below root that are laid out for a migration
// tool, sorted: they have pairs like 1_init.up.sql, or files marked for goose,
// dbmate or sql-migrate. Modules nested in root, vendored and test data and
// hidden directories are left out. Past 200,000 entries it stops looking.
func Discover(root string) ([]string, error) {
	var found []string
	entries := 0
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			if path == root {
				return err
			}
			return nil // a directory nobody may read holds no schema
		}
		if entries++; entries > maxEntries {
			return filepath.SkipAll
		}
		if e.IsDir() {
			if path != root && isForeign(path, e.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		dir := filepath.Dir(path)
		if isSQL(path) && e.Type().IsRegular() && !slices.Contains(found, dir) && isMigration(path) {
			found = append(found, dir)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("looking for migrations below %s: %w", root, err)
	}
	slices.Sort(found)
	return found, nil
}

func isForeign(path, base string) bool {
	if unvisited[base] || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return true
	}
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	return err == nil
}

func isMigration(path string) bool {
	if upFile.MatchString(filepath.Base(path)) {
		return true
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, headSize))
	return err == nil && annotated(string(head))
}
