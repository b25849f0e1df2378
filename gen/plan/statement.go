package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A builder puts a statement together. Texts have @1, @2 ... for the args given with
// them; what they become is the dialect's matter.
type builder struct {
	dialect
	s Statement
}

// always adds text that is always there.
func (b *builder) always(text string, args ...Arg) { b.add(Segment{}, text, args) }

// item adds an item of a list that is always there.
func (b *builder) item(text string, args ...Arg) { b.add(Segment{InList: true}, text, args) }

// given adds an item of a list that is there only if a value is given for c. Where
// placeholders have numbers, the one of c's own value ends the text.
func (b *builder) given(c *Column, text string, args ...Arg) {
	b.add(Segment{If: c, InList: true}, text, args)
}

func (b *builder) add(seg Segment, text string, args []Arg) {
	if b.number == "" {
		seg.Text, seg.Args = b.bind(text, args, nil), occurrences(text, args)
	} else {
		seg.Text = b.bind(text, args, func(a Arg) string {
			if seg.If != nil && a == of(seg.If) {
				seg.Args = append(seg.Args, a)
				return b.number // what follows is known at run time
			}
			return b.number + strconv.Itoa(b.first(a))
		})
	}
	n := len(b.s.Segments)
	if n == 0 || seg.If != nil || b.s.Segments[n-1].If != nil {
		b.s.Segments = append(b.s.Segments, seg)
		return
	}
	last := &b.s.Segments[n-1]
	if seg.InList && !startsList(last.Text) {
		last.Text += ", "
	}
	last.Text += seg.Text
	last.Args = append(last.Args, seg.Args...)
}

// startsList tells whether an item after text is the first of its list.
func startsList(text string) bool {
	return strings.HasSuffix(text, "(") || strings.HasSuffix(text, " ")
}

// first is the number of an arg among those bound first.
func (b *builder) first(a Arg) int {
	if i := slices.Index(b.s.First, a); i >= 0 {
		return i + 1
	}
	b.s.First = append(b.s.First, a)
	return len(b.s.First)
}

// bind replaces @1, @2 ...; with ? where number is nil.
func (b *builder) bind(text string, args []Arg, number func(Arg) string) string {
	var out strings.Builder
	eachMark(text, func(before string, n int) {
		out.WriteString(before)
		switch {
		case n == 0:
		case number == nil || b.number == "":
			out.WriteByte('?')
		default:
			out.WriteString(number(args[n-1]))
		}
	})
	return out.String()
}

// occurrences are the args in the order in which text has them.
func occurrences(text string, args []Arg) []Arg {
	var out []Arg
	eachMark(text, func(_ string, n int) {
		if n > 0 {
			out = append(out, args[n-1])
		}
	})
	return out
}

// eachMark calls each for every @1, @2 ... with what stands before it, and at last with 0
// and the rest. Quoted text, whose names may have an @, has no marks: marks follow the
// byte \x00.
func eachMark(text string, each func(before string, n int)) {
	for {
		at := strings.IndexByte(text, mark)
		if at < 0 {
			each(text, 0)
			return
		}
		each(text[:at], int(text[at+1]))
		text = text[at+2:]
	}
}

// mark stands before the number, a byte, of an arg. No identifier has it.
const mark = 0

// arg is the mark of the nth arg, from 1.
func arg(n int) string { return string([]byte{mark, byte(n)}) }

// String is the statement with every part that may be missing, as fence explain --sql
// shows it.
func (s Statement) String() string {
	var b strings.Builder
	next := len(s.First)
	for _, seg := range s.Segments {
		if seg.InList && !startsList(b.String()) {
			b.WriteString(", ")
		}
		b.WriteString(seg.Text)
		if seg.If != nil && s.Number != "" && len(seg.Args) > 0 {
			next++
			b.WriteString(strconv.Itoa(next))
		}
	}
	return b.String()
}

// Bound describes the args in the order in which String has their placeholders.
func (s Statement) Bound() []string {
	var out []string
	for _, a := range s.First {
		out = append(out, a.String())
	}
	for _, seg := range s.Segments {
		for _, a := range seg.Args {
			out = append(out, a.String())
		}
	}
	return out
}

// String says what is bound.
func (a Arg) String() string {
	switch a.Value {
	case OfToken:
		return "token"
	case OfGrant:
		return "grant id"
	case OfResource:
		return "resource"
	case OfColumn:
		return a.Column.Name
	}
	return fmt.Sprintf("Value(%d)", a.Value)
}
