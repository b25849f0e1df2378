// Package suppress answers one question: did the author of this code silence
// this check here, and say why?
//
// A finding is silenced by a comment with the check's name and a reason:
//
//	//lint:ignore unfencedwrite the migration runs before any worker starts
//	_, err := db.Exec(q)
//
// The comment stands on the line before a statement or declaration, or at the
// end of its first line, and holds for all of it. Several checks are separated
// by commas; a second tool gets a directive of its own, on a line of its own.
//
// An [Index] is asked in two places: by the function a check reports with, so
// that every driver honours directives, and by a driver that wants to know
// which directives silenced nothing. [Analyzer] gives both the same one.
package suppress

import (
	"go/ast"
	"go/token"
	"reflect"
	"sync"

	"golang.org/x/tools/go/analysis"
)

// Analyzer reads the directives of a package. Its result is an [*Index], one
// per package, shared by all checks that require it.
var Analyzer = &analysis.Analyzer{
	Name:             "fenceignore",
	Doc:              "reads the //lint:ignore directives of a package",
	RunDespiteErrors: true,
	ResultType:       reflect.TypeFor[*Index](),
	Run: func(pass *analysis.Pass) (any, error) {
		return New(pass.Fset, pass.Files), nil
	},
}

// Index knows the directives of some files. Its methods may be called from
// several goroutines.
type Index struct {
	directives []*directive

	mu   sync.Mutex
	used map[use]bool
}

// directive is one well-formed or malformed comment.
type directive struct {
	comment *ast.Comment
	parsed
	extent extent // what it silences; empty if it stands beside nothing
}

// use is one check named by one directive.
type use struct {
	d     *directive
	check string
}

// Use says whether a directive silenced anything of one check that it names.
type Use struct {
	Pos, End token.Pos // of the comment
	Check    string
	Silenced bool
}

// Problem is a directive that cannot be honoured.
type Problem struct {
	Pos, End token.Pos // of the comment
	Message  string
}

// New reads the directives of files.
func New(fset *token.FileSet, files []*ast.File) *Index {
	x := &Index{used: make(map[use]bool)}
	for _, f := range files {
		var found []*directive
		for _, group := range f.Comments {
			for _, c := range group.List {
				if p, ok := parse(c.Text); ok {
					found = append(found, &directive{comment: c, parsed: p})
				}
			}
		}
		attach(fset, f, found)
		x.directives = append(x.directives, found...)
	}
	return x
}

// Silenced reports whether a directive silences check at pos, and remembers
// that it did.
func (x *Index) Silenced(check string, pos token.Pos) bool {
	silenced := false
	for _, d := range x.directives {
		if !d.silences(check, pos) {
			continue
		}
		// All directives around pos count as used: the author of the inner one
		// need not know about the outer one.
		x.mu.Lock()
		x.used[use{d, check}] = true
		x.mu.Unlock()
		silenced = true
	}
	return silenced
}

// Problems returns the directives that name a check of ours, as told by known,
// and cannot be honoured. A directive for other tools is theirs to judge.
func (x *Index) Problems(known func(check string) bool) []Problem {
	var problems []Problem
	for _, d := range x.directives {
		if msg := d.problem(known); msg != "" {
			problems = append(problems, Problem{d.comment.Pos(), d.comment.End(), msg})
		}
	}
	return problems
}

// Uses returns every check that a well-formed directive names. Ask after the
// checks have run.
func (x *Index) Uses() []Use {
	x.mu.Lock()
	defer x.mu.Unlock()
	var uses []Use
	for _, d := range x.directives {
		if !d.wellFormed() {
			continue
		}
		for _, check := range d.checks {
			uses = append(uses, Use{d.comment.Pos(), d.comment.End(), check, x.used[use{d, check}]})
		}
	}
	return uses
}
