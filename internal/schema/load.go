package schema

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fencelint/fence/internal/config"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// Load reads SQL files and directories, in the given order, and applies their
// statements one after the other. Of a directory it reads the *.sql files: those
// a migration tool would run forwards, in the tool's order, if it is laid out
// for golang-migrate, goose, dbmate or sql-migrate.
//
// A statement that is not understood is skipped with a [Note]. Errors are paths
// that cannot be read, and directives that say nothing known or stand where they
// mean nothing (config.Errors).
func Load(paths []string, d sqlstmt.Dialect) (*Schema, error) {
	r := &reader{dialect: d, votes: map[sqlstmt.Dialect]bool{}}
	var errs []error
	seen := map[string]bool{}
	for _, path := range paths {
		files, err := r.expand(path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, f := range files {
			if seen[filepath.Clean(f)] {
				continue
			}
			seen[filepath.Clean(f)] = true
			data, large, err := readFile(f)
			switch {
			case err != nil:
				errs = append(errs, unreadable(f, err))
			case large:
				r.note(fileStart(f), fmt.Sprintf("file skipped: it has more than the %d bytes that are read", maxFile))
			default:
				r.read(f, data)
			}
		}
	}
	if len(r.errs) > 0 {
		errs = append(errs, r.errs)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return &Schema{Dialect: r.understood(), Tables: r.schema(), Notes: r.notes}, nil
}

// readFile reads a file; one that is too large it does not read at all, and
// large is true.
func readFile(path string) (data []byte, large bool, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, false, err
	}
	if !info.Mode().IsRegular() {
		return nil, false, errors.New("it is not a regular file")
	}
	if info.Size() > maxFile {
		return nil, true, nil
	}
	data, err = os.ReadFile(path)
	return data, false, err
}

// expand is the files a path stands for.
func (r *reader) expand(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	var names []string
	for _, e := range entries {
		if isSQL(e.Name()) && !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("schema directory %s has no *.sql files: name the directory that holds them", path)
	}
	files, skipped := upFiles(names)
	for _, n := range names {
		if why := skipped[n]; why != "" {
			r.note(fileStart(filepath.Join(path, n)), "file "+why)
		}
	}
	for i, f := range files {
		files[i] = filepath.Join(path, f)
	}
	return files, nil
}

// fileStart is the position of notes about a whole file.
func fileStart(file string) config.Pos { return config.Pos{File: file, Line: 1, Column: 1} }

func isSQL(file string) bool { return strings.EqualFold(filepath.Ext(file), ".sql") }

func unreadable(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("schema file %s does not exist: correct its path under schema in %s: %w", path, config.FileName, fs.ErrNotExist)
	}
	return fmt.Errorf("schema file %s cannot be read: make it readable or remove it from schema in %s: %w", path, config.FileName, err)
}
