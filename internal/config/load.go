package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fencelint/fence/internal/suggest"
)

// FileName is the name of the file this package reads.
const FileName = "fence.yaml"

// Parse decodes the text of one fence.yaml. The name is what positions show; no
// file is touched. An error is an [Errors].
func Parse(name string, data []byte) (*Config, error) {
	root, err := document(name, data)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	c := &Config{File: name, digest: hex.EncodeToString(sum[:])}
	if root == nil {
		return c, nil
	}
	d := &decoder{file: name, lines: bytes.Split(data, []byte("\n"))}
	d.config(root, c)
	if len(d.errs) > 0 {
		return nil, d.errs.sorted()
	}
	return c, nil
}

// Load reads and decodes the fence.yaml at path, and looks whether the schema
// files it names are there.
func Load(path string) (*Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	c, err := Parse(path, data)
	if err != nil {
		return nil, err
	}
	var missing Errors
	for _, n := range c.Schema {
		if e := c.lookFor(n); e != nil {
			missing = append(missing, e)
		}
	}
	if len(missing) > 0 {
		return nil, missing.sorted()
	}
	return c, nil
}

// lookFor says what keeps a schema path from being read.
func (c *Config) lookFor(n Name) *InputError {
	path := c.resolve(n)
	_, err := os.Stat(path)
	if err == nil {
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return &InputError{Pos: n.Pos, Msg: fmt.Sprintf("schema %q cannot be read", n.Text), Hint: err.Error()}
	}
	hint := "paths count from the directory of " + FileName
	if beside, err := os.ReadDir(filepath.Dir(path)); err == nil {
		names := make([]string, len(beside))
		for i, e := range beside {
			names[i] = e.Name()
		}
		hint = suggest.Hint(filepath.Base(path), names, hint)
	}
	return &InputError{Pos: n.Pos, Msg: fmt.Sprintf("schema %q does not exist", n.Text), Hint: hint}
}

// Dir is the directory the paths in the file count from; empty for the zero
// Config.
func (c *Config) Dir() string {
	if c.File == "" {
		return ""
	}
	return filepath.Dir(c.File)
}

// SchemaPaths is Schema as paths of this machine, in file order.
func (c *Config) SchemaPaths() []string {
	var paths []string
	for _, n := range c.Schema {
		paths = append(paths, c.resolve(n))
	}
	return paths
}

func (c *Config) resolve(n Name) string {
	path := filepath.FromSlash(n.Text)
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(c.Dir(), path)
}

// Digest is the SHA-256 of the file's bytes in hexadecimal; empty for the zero
// Config. Schema files are not part of it.
func (c *Config) Digest() string { return c.digest }

// Find is the fence.yaml nearest to dir, in dir or one of its parents up to and
// including root. A fence.yml is an error, since nothing would ever read it.
func Find(dir, root string) (path string, ok bool, err error) {
	dir, root, err = sameTree(dir, root)
	if err != nil {
		return "", false, err
	}
	for {
		path = filepath.Join(dir, FileName)
		if isFile(path) {
			return path, true, nil
		}
		if other := filepath.Join(dir, "fence.yml"); isFile(other) {
			return "", false, fmt.Errorf("%s: the file is called %s: rename it", other, FileName)
		}
		parent := filepath.Dir(dir)
		if dir == root || parent == dir {
			return "", false, nil
		}
		dir = parent
	}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// sameTree makes dir and root comparable, through symbolic links if need be,
// and fails unless dir is root or below it.
func sameTree(dir, root string) (absDir, absRoot string, err error) {
	if absDir, err = filepath.Abs(dir); err != nil {
		return "", "", fmt.Errorf("looking for %s: %w", FileName, err)
	}
	if absRoot, err = filepath.Abs(root); err != nil {
		return "", "", fmt.Errorf("looking for %s: %w", FileName, err)
	}
	if within(absDir, absRoot) {
		return absDir, absRoot, nil
	}
	realDir, errDir := filepath.EvalSymlinks(absDir)
	realRoot, errRoot := filepath.EvalSymlinks(absRoot)
	if err = errors.Join(errDir, errRoot); err != nil {
		return "", "", fmt.Errorf("looking for %s: %w", FileName, err)
	}
	if !within(realDir, realRoot) {
		return "", "", fmt.Errorf("looking for %s: %s is not inside %s", FileName, dir, root)
	}
	return realDir, realRoot, nil
}

func within(dir, root string) bool {
	rel, err := filepath.Rel(root, dir)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
