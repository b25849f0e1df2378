// Package inputs answers one question: which files, besides Go source, does an
// analysis of this directory's main modules depend on, and what is in them?
//
// Drivers that keep answers in a cache (go vet, golangci-lint) know nothing of
// fence.yaml and of schemas. They are given the digest of all of them as part of
// a name that their cache does know.
package inputs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fencelint/fence/internal/config"
	"github.com/fencelint/fence/internal/schema"
)

// Inputs are the files of some main modules.
type Inputs struct {
	Configs []string // every fence.yaml, sorted
	Digest  string   // of those, the schemas they name and the migrations beside them
}

// Find returns what an analysis that is started in dir reads, from all main
// modules of that directory; without a module that is nothing.
func Find(ctx context.Context, dir string) (Inputs, error) {
	modules, err := mainModules(ctx, dir)
	if err != nil {
		return Inputs{}, err
	}
	var in Inputs
	h := sha256.New()
	for _, m := range modules {
		d := digest{h, m}
		configs, err := configsBelow(m)
		if err != nil {
			return Inputs{}, err
		}
		for _, c := range configs {
			d.config(c)
			if filepath.Base(c) == config.FileName {
				in.Configs = append(in.Configs, c)
			}
		}
		// A fence.yaml that names no schema, or none at all, leaves it to these.
		dirs, err := schema.Discover(m)
		if err != nil {
			return Inputs{}, err
		}
		for _, dir := range dirs {
			d.path(dir)
		}
	}
	slices.Sort(in.Configs)
	in.Digest = hex.EncodeToString(h.Sum(nil))
	return in, nil
}

// Of returns the digest of one fence.yaml and the schemas it names.
func Of(file string) string {
	d := digest{sha256.New(), filepath.Dir(file)}
	d.config(file)
	return hex.EncodeToString(d.Sum(nil))
}

// Schemas returns the digest of the schemas that c names.
func Schemas(c *config.Config) string {
	d := digest{sha256.New(), c.Dir()}
	d.schemas(c)
	return hex.EncodeToString(d.Sum(nil))
}

// mainModules returns the directories of the module or workspace around dir.
func mainModules(ctx context.Context, dir string) ([]string, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}")
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && outsideModules(ctx, dir):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("finding the main modules of %s: %w\n%s", dir, err, bytes.TrimSpace(stderr.Bytes()))
	}
	var dirs []string
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); line != "" {
			dirs = append(dirs, line)
		}
	}
	return dirs, nil
}

func outsideModules(ctx context.Context, dir string) bool {
	cmd := exec.CommandContext(ctx, "go", "env", "GOMOD")
	cmd.Dir = dir
	out, err := cmd.Output()
	return err == nil && filepath.Base(strings.TrimSpace(string(out))) != "go.mod"
}

// unvisited are directories whose fence.yaml counts for no package of the module.
var unvisited = map[string]bool{".git": true, "vendor": true, "node_modules": true}

// misnamed is a file that counts for nothing, but keeps packages from being checked.
const misnamed = "fence.yml"

// configsBelow returns every fence.yaml of the module at root, also those by the
// wrong name.
func configsBelow(root string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			if path == root {
				return err
			}
			return nil // a directory nobody may read holds no package either
		}
		switch {
		case e.IsDir() && path != root && (unvisited[e.Name()] || isModule(path)):
			return filepath.SkipDir
		case !e.IsDir() && (e.Name() == config.FileName || e.Name() == misnamed):
			found = append(found, path)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("looking for %s below %s: %w", config.FileName, root, err)
	}
	return found, nil
}

func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// digest hashes files with their names, which count from root so that two
// checkouts of one tree have one digest. What cannot be read has a digest as well:
// an answer given without it is wrong once it is there.
type digest struct {
	hash.Hash
	root string
}

// config adds a fence.yaml and the schemas it names, if it can be understood.
func (d digest) config(file string) {
	data := d.file(file)
	if c, err := config.Parse(file, data); err == nil {
		d.schemas(c)
	}
}

func (d digest) schemas(c *config.Config) {
	for _, path := range c.SchemaPaths() {
		d.path(path)
	}
}

// path adds an SQL file, or those of a directory.
func (d digest) path(path string) {
	entries, err := os.ReadDir(path)
	if err != nil {
		d.file(path)
		return
	}
	for _, e := range entries {
		if !e.IsDir() && strings.EqualFold(filepath.Ext(e.Name()), ".sql") {
			d.file(filepath.Join(path, e.Name()))
		}
	}
}

// file adds a file and returns what is in it.
func (d digest) file(path string) []byte {
	data, err := os.ReadFile(path)
	name := path
	if rel, err := filepath.Rel(d.root, path); err == nil {
		name = filepath.ToSlash(rel)
	}
	fmt.Fprintf(d, "%q %d %t\n%s", name, len(data), err == nil, data)
	return data
}
