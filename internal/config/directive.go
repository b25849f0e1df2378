package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fencelint/fence/internal/suggest"
)

// Directive is one "//fence:verb args" in Go or "-- fence:verb args" in SQL.
type Directive struct {
	Pos  Pos
	Verb string   // "protect", "token", "lease", "check", "write", "effect", "expiry"
	Args []string // positional words: the orders of "//fence:write orders"
	// Options holds key=value words: resource, guard, rule.
	Options map[string]string
}

// prefix starts a directive, directly followed by its verb.
const prefix = "fence:"

// ParseGo reads the text of one Go comment, its slashes included, that starts
// at pos. ok is false for a comment that is not a directive, which "// fence:"
// followed by prose is not; a directive that says nothing known is an
// [InputError]. A further comment in the same text ("//fence:check // why") is
// left out.
func ParseGo(text string, pos Pos) (d Directive, ok bool, err error) {
	body, ok := strings.CutPrefix(text, "//")
	if !ok {
		return Directive{}, false, nil
	}
	body = cutComment(body, "//")
	if spaced, ok := strings.CutPrefix(body, " "); ok {
		return Directive{}, false, missedDirective(spaced, pos)
	}
	return parseDirective(line{body, pos, len("//")}, goVerbs)
}

// missedDirective is the error for a comment that would be a directive without
// its blank; other comments that start with fence: are prose.
func missedDirective(body string, pos Pos) error {
	d, ok, err := parseDirective(line{body, pos, len("// ")}, goVerbs)
	if !ok || err != nil {
		return nil //nolint:nilerr // what is no directive is prose
	}
	return &InputError{Pos: pos, Msg: fmt.Sprintf("// %s%s has a blank after the slashes and so is a plain comment", prefix, d.Verb), Hint: fmt.Sprintf("write //%s%s", prefix, d.Verb)}
}

// sqlComments are the ways a comment of SQL starts and ends.
var sqlComments = []struct{ start, end string }{{"--", ""}, {"/*", "*/"}, {"#", ""}}

// ParseSQL is ParseGo for an SQL comment: "-- fence:token rule=equal". Blanks
// before fence: do not matter there.
func ParseSQL(comment string, pos Pos) (d Directive, ok bool, err error) {
	for _, c := range sqlComments {
		body, ok := strings.CutPrefix(comment, c.start)
		if !ok {
			continue
		}
		body = strings.TrimSuffix(body, c.end)
		body = cutComment(body, "--")
		trimmed := strings.TrimLeft(body, " \t")
		return parseDirective(line{trimmed, pos, len(c.start) + len(body) - len(trimmed)}, sqlVerbs)
	}
	return Directive{}, false, nil
}

// cutComment cuts body where a further comment starts: at mark, behind a blank of
// any kind.
func cutComment(body, mark string) string {
	blank := false
	for i, r := range body {
		if blank && strings.HasPrefix(body[i:], mark) {
			return body[:i]
		}
		blank = unicode.IsSpace(r)
	}
	return body
}

// line is the text of a comment without its marks, and where it starts.
type line struct {
	text   string
	pos    Pos
	offset int // of text from pos, on pos's line
}

// word is one word of a line.
type word struct {
	text string
	pos  Pos
}

// words splits the line at blanks; none of them crosses a line break, which
// ends the directive.
func (l line) words() []word {
	text, _, _ := strings.Cut(l.text, "\n")
	var all []word
	start := -1
	for i, r := range text + " " {
		switch {
		case !unicode.IsSpace(r) && start < 0:
			start = i
		case unicode.IsSpace(r) && start >= 0:
			pos := l.pos
			pos.Column += l.offset + start
			all = append(all, word{text[start:i], pos})
			start = -1
		}
	}
	return all
}

func parseDirective(l line, verbs []verb) (Directive, bool, error) {
	rest, ok := strings.CutPrefix(l.text, prefix)
	if first, _ := utf8.DecodeRuneInString(rest); !ok || rest == "" || unicode.IsSpace(first) {
		return Directive{}, false, nil
	}
	words := l.words()
	name := strings.TrimPrefix(words[0].text, prefix)
	i := slices.IndexFunc(verbs, func(v verb) bool { return v.name == name })
	if i < 0 {
		return Directive{}, false, unknownVerb(words[0], name, verbs)
	}
	d := Directive{Pos: l.pos, Verb: name}
	for _, w := range words[1:] {
		if err := d.add(w, verbs[i]); err != nil {
			return Directive{}, false, err
		}
	}
	if verbs[i].anyArgs && len(d.Args) == 0 {
		return Directive{}, false, &InputError{Pos: words[0].pos, Msg: prefix + name + " names nothing", Hint: "write " + verbs[i].example}
	}
	return d, true, nil
}

// add takes one word of the directive.
func (d *Directive) add(w word, v verb) *InputError {
	name, value, isOption := strings.Cut(w.text, "=")
	if isOption {
		return d.option(w, v, name, value)
	}
	if !v.anyArgs && !slices.Contains(v.args, w.text) {
		known := slices.Concat(v.args, v.optionNames())
		return &InputError{Pos: w.pos, Msg: fmt.Sprintf("%s%s: unknown word %q", prefix, v.name, brief(w.text)), Hint: suggest.Hint(w.text, known, "write "+v.example)}
	}
	if slices.Contains(d.Args, w.text) {
		return &InputError{Pos: w.pos, Msg: fmt.Sprintf("%s%s: %q twice", prefix, v.name, brief(w.text)), Hint: "keep one"}
	}
	d.Args = append(d.Args, w.text)
	return nil
}

func (d *Directive) option(w word, v verb, name, value string) *InputError {
	at := prefix + v.name
	values, known := v.options[name]
	_, twice := d.Options[name]
	switch {
	case !known:
		return &InputError{Pos: w.pos, Msg: fmt.Sprintf("%s: unknown option %q", at, brief(name)), Hint: suggest.Hint(name, v.optionNames(), "write "+v.example)}
	case twice:
		return &InputError{Pos: w.pos, Msg: fmt.Sprintf("%s: option %s twice", at, name), Hint: "keep one"}
	case value == "":
		return &InputError{Pos: w.pos, Msg: fmt.Sprintf("%s: option %s has no value", at, name), Hint: "write " + name + "=value without blanks"}
	case strings.ContainsAny(value, "\"'`"):
		return &InputError{Pos: w.pos, Msg: fmt.Sprintf("%s: option %s has quotes", at, name), Hint: "leave them out: a value ends at the first blank"}
	case values != nil && !slices.Contains(values, value):
		return &InputError{Pos: w.pos, Msg: fmt.Sprintf("%s: unknown %s %q, want %s", at, name, brief(value), orList(values)), Hint: suggest.Hint(value, values, "")}
	}
	if d.Options == nil {
		d.Options = map[string]string{}
	}
	d.Options[name] = value
	return nil
}

func (v verb) optionNames() []string { return slices.Sorted(maps.Keys(v.options)) }

func unknownVerb(w word, name string, verbs []verb) *InputError {
	e := &InputError{Pos: w.pos, Msg: fmt.Sprintf("unknown directive %s%s", prefix, brief(name))}
	if why := foreign[name]; why != "" {
		e.Hint = why
		return e
	}
	known := make([]string, len(verbs))
	for i, v := range verbs {
		known[i] = v.name
	}
	e.Hint = "known: " + strings.Join(known, ", ")
	if near, ok := suggest.Nearest(name, known); ok {
		e.Hint = fmt.Sprintf("did you mean %s%s?", prefix, near)
	}
	return e
}
