package schema

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fencelint/fence/internal/config"
)

// anchor is something of a statement that a directive can stand on: a table, a
// column, or (neither set) an element that takes none.
type anchor struct {
	offset int // in the file
	table  *Table
	column *Column
}

// placed is a directive and the comment it was written in.
type placed struct {
	config.Directive
	comment comment
}

// attach gives the directives in and around a statement to what it created.
func (r *reader) attach(st *statement, o outcome) {
	for _, d := range r.directives(st.src, st.comments) {
		if o.problem != "" {
			r.note(d.Pos, fmt.Sprintf("fence:%s not read: its statement was skipped", d.Verb))
			continue
		}
		if d.attach(st, o.anchors) {
			continue
		}
		r.misplaced(d)
	}
}

// stray refuses directives after the last statement.
func (r *reader) stray(src *source, rest []comment) {
	for _, d := range r.directives(src, rest) {
		r.misplaced(d)
	}
}

func (r *reader) directives(src *source, comments []comment) []placed {
	var all []placed
	for _, c := range comments {
		d, ok, err := config.ParseSQL(string(src.text[c.start:c.end]), src.pos(c.start))
		if err != nil {
			r.fail(err, src.pos(c.start))
		}
		if ok {
			all = append(all, placed{d, c})
		}
	}
	return all
}

// fail keeps what ParseSQL says.
func (r *reader) fail(err error, pos config.Pos) {
	e := &config.InputError{Pos: pos, Msg: err.Error()}
	errors.As(err, &e)
	r.errs = append(r.errs, e)
}

// homes says where each directive belongs.
var homes = map[string]string{
	"protect": "write it above CREATE TABLE or on its line",
	"token":   "write it on the line of a column or on the line above",
	"expiry":  "write it on the line of a column or on the line above",
}

func (r *reader) misplaced(d placed) {
	r.errs = append(r.errs, &config.InputError{Pos: d.Pos, Msg: fmt.Sprintf("fence:%s belongs to nothing here", d.Verb), Hint: homes[d.Verb]})
}

// attach finds the table or column d stands on; false if there is none.
func (d placed) attach(st *statement, anchors []anchor) bool {
	if d.Verb == "protect" {
		for _, a := range anchors {
			if a.table != nil {
				a.table.Directives = merged(a.table.Directives, []config.Directive{d.Directive})
				return true
			}
		}
		return false
	}
	col := d.column(st, anchors)
	if col == nil {
		return false
	}
	col.Directives = merged(col.Directives, []config.Directive{d.Directive})
	return true
}

// column is the column d stands on: the one that starts right after a comment
// on a line of its own, else the last one that starts before it.
func (d placed) column(st *statement, anchors []anchor) *Column {
	creates := false
	var before, after *anchor
	for i, a := range anchors {
		switch {
		case a.table != nil:
			creates = true
		case a.offset < d.comment.start:
			before = &anchors[i]
		case after == nil:
			after = &anchors[i]
		}
	}
	c := d.comment
	switch {
	case c.place == above && creates, c.place == inside && creates && c.depth == 0:
		return nil
	case c.place == above:
		return lone(anchors)
	case c.ownLine && after != nil && strings.TrimSpace(st.bare(c.end, after.offset)) == "":
		return after.column
	case before == nil:
		return nil
	case c.place == behind && creates && st.src.line(before.offset) != st.src.line(c.start):
		return nil
	case c.ownLine && c.place == inside && closes(st.bare(c.end, st.end)):
		return nil
	}
	return before.column
}

// lone is the only column of a statement, or nil.
func lone(anchors []anchor) *Column {
	if len(anchors) != 1 {
		return nil
	}
	return anchors[0].column
}

// closes reports whether nothing but the end of a list follows.
func closes(rest string) bool { return strings.HasPrefix(strings.TrimSpace(rest), ")") }
