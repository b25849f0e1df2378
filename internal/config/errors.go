package config

import (
	"fmt"
	"slices"
	"strings"
)

// String is file:line:column, the form editors and CI logs make clickable.
func (p Pos) String() string {
	if p.File == "" {
		return fmt.Sprintf("%d:%d", p.Line, p.Column)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// InputError is one thing the user wrote that cannot be meant.
type InputError struct {
	Pos  Pos
	Msg  string
	Hint string // what to write instead; may be empty
}

func (e *InputError) Error() string {
	if e.Hint == "" {
		return fmt.Sprintf("%s: %s", e.Pos, e.Msg)
	}
	return fmt.Sprintf("%s: %s: %s", e.Pos, e.Msg, e.Hint)
}

// Errors is everything wrong with one input, in its order.
type Errors []*InputError

func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find each [InputError].
func (es Errors) Unwrap() []error {
	all := make([]error, len(es))
	for i, e := range es {
		all[i] = e
	}
	return all
}

// sorted is es by position; equal positions keep their order.
func (es Errors) sorted() Errors {
	slices.SortStableFunc(es, func(a, b *InputError) int {
		if a.Pos.Line != b.Pos.Line {
			return a.Pos.Line - b.Pos.Line
		}
		return a.Pos.Column - b.Pos.Column
	})
	return es
}
