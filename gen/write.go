package gen

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fencelint/fence/internal/replace"
)

// A Change is a file that differs from what is generated.
type Change struct {
	Path     string
	Old, New []byte // nil: there is none
}

// Changes are the files that writing would make, replace or, where their table is gone,
// delete; by path.
func (r *Result) Changes() ([]Change, error) {
	var changes []Change
	for _, f := range r.Files {
		old, err := readFile(f.Path)
		if err != nil {
			return nil, err
		}
		if old == nil || !bytes.Equal(old, f.Data) {
			changes = append(changes, Change{f.Path, old, f.Data})
		}
	}
	orphans, err := r.orphans()
	if err != nil {
		return nil, err
	}
	changes = append(changes, orphans...)
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return changes, nil
}

// readFile is a file as it is there, nil if it is not.
func readFile(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading what is there: %w", err)
	}
	return append([]byte{}, data...), nil // not nil, if empty
}

// orphans are the files that fence gen wrote before and does not any more. One that says
// it is somebody else's by now is left alone.
func (r *Result) orphans() ([]Change, error) {
	var orphans []Change
	for _, name := range r.had.Files {
		path := filepath.Join(r.dir, name)
		if slices.ContainsFunc(r.Files, func(f File) bool { return f.Path == path }) {
			continue
		}
		old, err := readFile(path)
		if err != nil {
			return nil, err
		}
		if old != nil && owned(name, old) {
			orphans = append(orphans, Change{Path: path, Old: old})
		}
	}
	return orphans, nil
}

// Write makes the directory as Changes say, and returns them. All new files are complete
// on disk before the first old one is replaced; files that do not change are not touched.
func (r *Result) Write() ([]Change, error) {
	changes, err := r.Changes()
	if err != nil || len(changes) == 0 {
		return nil, err
	}
	written := map[string]string{} // the temporary file of each
	defer func() {
		for _, tmp := range written {
			_ = os.Remove(tmp) // what was renamed is gone
		}
	}()
	for _, c := range changes {
		if c.New == nil {
			continue
		}
		tmp, err := temporary(c)
		if err != nil {
			return nil, err
		}
		written[c.Path] = tmp
	}
	// The manifest comes last: until then, what was there before is still known.
	last := func(c Change) bool { return filepath.Base(c.Path) == manifestName }
	slices.SortStableFunc(changes, func(a, b Change) int {
		switch {
		case last(a) == last(b):
			return 0
		case last(a):
			return 1
		}
		return -1
	})
	for _, c := range changes {
		if c.New == nil {
			err = os.Remove(c.Path)
		} else {
			err = os.Rename(written[c.Path], c.Path)
		}
		if err != nil {
			return nil, fmt.Errorf("replacing what is there: %w", err)
		}
	}
	return changes, nil
}

// temporary writes a change beside its file.
func temporary(c Change) (string, error) {
	if err := os.MkdirAll(filepath.Dir(c.Path), 0o777); err != nil {
		return "", fmt.Errorf("making the directory: %w", err)
	}
	return replace.Beside(c.Path, c.New)
}
