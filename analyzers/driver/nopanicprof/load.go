package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"go/version"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"
)

// loader type-checks packages after what they import, and reads those that were
// chosen.
type loader struct {
	tree  *tree
	fset  *token.FileSet
	build build.Context
	facts facts
	say   func(outcome)    // told when a package is begun and when it is done
	nodes map[string]*node // by directory
	order []*node          // imports first
}

// node is a package of the import graph.
type node struct {
	dir    string
	module *module
	path   string
	chosen bool // read it; the others only lend their declarations
	files  []string
	needs  map[string]*node // by import path; nil for one that is not there
	users  []*node
	open   bool // its imports are being added

	waiting int // imports that are not done
	pkg     *types.Package
	sound   bool // no type errors, here and in what it imports
}

func newLoader(t *tree, say func(outcome)) *loader {
	ctx := build.Default
	// With cgo, half of a package would be in files that the go command makes.
	ctx.CgoEnabled = false
	return &loader{tree: t, fset: token.NewFileSet(), build: ctx, say: say, nodes: map[string]*node{}}
}

// add chooses the package in dir; nothing happens if this platform has no code
// for it, or if a version that was downloaded meanwhile has taken its place.
func (l *loader) add(dir string) {
	if l.tree.in[dir] == nil {
		return
	}
	if n := l.node(dir); n != nil {
		n.chosen = true
	}
}

// node returns the package in dir and adds what it imports, or nil.
func (l *loader) node(dir string) *node {
	if n, ok := l.nodes[dir]; ok {
		return n
	}
	l.nodes[dir] = nil
	p, err := l.build.ImportDir(dir, 0)
	if p == nil || len(p.GoFiles) == 0 {
		return nil
	}
	_ = err // several packages in one directory, a file that does not parse: what there is will do
	m := l.tree.in[dir]
	importPath := m.importPath(dir)
	if _, after, ok := strings.Cut(importPath, "vendor/"); ok && m == l.tree.std {
		importPath = after
	}
	n := &node{dir: dir, module: m, path: importPath, files: p.GoFiles, needs: map[string]*node{}, open: true}
	l.nodes[dir] = n
	for _, imported := range p.Imports {
		if imported == "unsafe" || imported == "C" {
			continue
		}
		var need *node
		if at := l.tree.resolve(m, imported); at != "" {
			need = l.node(at)
		}
		if need != nil && need.open {
			need = nil // a cycle, which mixed versions make
		}
		n.needs[imported] = need
		if need != nil {
			need.users = append(need.users, n)
			n.waiting++
		}
	}
	n.open = false
	l.order = append(l.order, n)
	return n
}

// run loads everything that was added, workers packages at a time.
func (l *loader) run(workers int, limit time.Duration) {
	ready := make(chan *node, len(l.order))
	var mu sync.Mutex // guards waiting
	left := len(l.order)
	for _, n := range l.order {
		if n.waiting == 0 {
			ready <- n
		}
	}
	if left == 0 {
		close(ready)
	}
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for n := range ready {
				l.load(n, limit)
				mu.Lock()
				for _, u := range n.users {
					if u.waiting--; u.waiting == 0 {
						ready <- u
					}
				}
				if left--; left == 0 {
					close(ready)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

// load type-checks n, and reads it if it was chosen.
func (l *loader) load(n *node, limit time.Duration) {
	begin := time.Now()
	c := l.check(n)
	n.pkg, n.sound = c.pkg, c.sound
	if !n.chosen {
		return
	}
	o := outcome{Dir: n.dir, Name: l.name(n), Sound: n.sound}
	l.say(o)
	done := make(chan outcome, 1)
	go func() {
		o := o
		var err error
		o.Findings, err = read(c, &l.facts)
		if err != nil {
			o.Failure, o.Unbuilt = err.Error(), errors.Is(err, errNoSSA)
		}
		done <- o
	}()
	select {
	case o = <-done:
	case <-time.After(limit):
		o.Failure = fmt.Sprintf("not done after %s", limit)
	}
	o.Took, o.Done = time.Since(begin), true
	l.say(o)
}

// name names n for people.
func (l *loader) name(n *node) string {
	if n.module.version == "" {
		return n.path
	}
	return n.path + "@" + n.module.version
}

// checked is a type-checked package.
type checked struct {
	fset  *token.FileSet
	files []*ast.File
	pkg   *types.Package
	info  *types.Info
	sizes types.Sizes
	errs  []types.Error
	sound bool
}

// check type-checks n as well as it goes.
func (l *loader) check(n *node) *checked {
	c := &checked{fset: l.fset, sound: true, sizes: types.SizesFor("gc", runtime.GOARCH)}
	for _, name := range n.files {
		f, err := parser.ParseFile(l.fset, filepath.Join(n.dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			c.sound = false
		}
		if f != nil && f.Name != nil {
			c.files = append(c.files, f)
		}
	}
	if n.chosen {
		c.info = &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{}, Instances: map[*ast.Ident]types.Instance{},
			Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
			Implicits: map[ast.Node]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
			Scopes: map[ast.Node]*types.Scope{}, FileVersions: map[*ast.File]string{},
		}
	}
	conf := &types.Config{
		GoVersion: version.Lang(runtime.Version()), Sizes: c.sizes, FakeImportC: true, IgnoreFuncBodies: !n.chosen,
		Importer: importer{n, c},
		Error: func(err error) {
			c.sound = false
			if e, ok := err.(types.Error); ok { //nolint:errorlint // as go/types documents it
				c.errs = append(c.errs, e)
			}
		},
	}
	c.pkg = l.typeCheck(conf, n.path, c)
	return c
}

// typeCheck calls the type checker, which is not ours: if it panics, there is an
// empty package.
func (l *loader) typeCheck(conf *types.Config, path string, c *checked) (pkg *types.Package) {
	defer func() {
		if cause := recover(); cause != nil {
			c.sound, c.files = false, nil
			c.errs = append(c.errs, types.Error{Msg: fmt.Sprintf("panic: %v\n%s", cause, debug.Stack())})
			pkg = empty(path)
		}
	}()
	pkg, _ = conf.Check(path, l.fset, c.files, c.info) // the errors were collected
	return pkg
}

// importer answers with the packages that a node needs.
type importer struct {
	n *node
	c *checked
}

func (i importer) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	need := i.n.needs[path]
	if need == nil || need.pkg == nil {
		i.c.sound = false
		return empty(path), nil
	}
	if !need.sound {
		i.c.sound = false
	}
	return need.pkg, nil
}

// empty stands in for a package that is not there.
func empty(path string) *types.Package {
	p := types.NewPackage(path, filepath.Base(path))
	p.MarkComplete()
	return p
}
