package config

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/fencelint/fence/internal/suggest"
)

// decoder turns YAML nodes into a Config and collects what is wrong on the way.
type decoder struct {
	file   string
	lines  [][]byte
	errs   Errors
	guards []reference // values of "guard", checked once all guards are known
	driver *yaml.Node  // the value of "driver", checked once the dialect is known
	last   column      // the last position asked for
}

// column is how far into a line a number of characters reaches, in bytes.
type column struct{ line, chars, bytes int }

// reference is a name used in one place of the file and defined in another.
type reference struct {
	name string
	pos  Pos
}

// key is one key of a mapping and what reads its value.
type key struct {
	name   string
	decode func(*yaml.Node)
}

// shape is a kind of value as the user sees it.
type shape struct {
	kind  yaml.Kind
	tag   string
	words string
}

// The shapes a value can be asked to have.
var (
	aMapping = shape{yaml.MappingNode, "!!map", "a mapping"}
	aList    = shape{yaml.SequenceNode, "!!seq", "a list"}
	aString  = shape{yaml.ScalarNode, "!!str", "a string"}
	aBool    = shape{yaml.ScalarNode, "!!bool", "true or false"}
	anInt    = shape{yaml.ScalarNode, "!!int", "an integer"}
)

// tagWords names the YAML types that can turn up where another was wanted.
var tagWords = map[string]string{
	"!!map": "a mapping", "!!seq": "a list", "!!str": "a string", "!!bool": "a boolean", "!!int": "an integer",
	"!!float": "a number", "!!timestamp": "a date", "!!binary": "binary data", "!!null": "nothing",
}

func (d *decoder) fail(n *yaml.Node, msg, hint string) {
	d.errs = append(d.errs, &InputError{Pos: d.pos(n), Msg: msg, Hint: hint})
}

// pos is where n stands. YAML counts characters, the rest of the world bytes.
func (d *decoder) pos(n *yaml.Node) Pos {
	p := Pos{File: d.file, Line: n.Line, Column: 1}
	if n.Line < 1 || n.Line > len(d.lines) {
		return p
	}
	if d.last.line != n.Line || d.last.chars > n.Column-1 {
		d.last = column{line: n.Line}
	}
	line := d.lines[n.Line-1]
	for ; d.last.chars < n.Column-1; d.last.chars++ {
		_, size := utf8.DecodeRune(line[d.last.bytes:])
		d.last.bytes += size
	}
	p.Column += d.last.bytes
	return p
}

// in puts the key a message is about before it; the file itself needs no name.
func in(what, msg string) string {
	if what == "" {
		return msg
	}
	return what + ": " + msg
}

// is reports whether n has the wanted shape, and says so where it has not.
func (d *decoder) is(n *yaml.Node, what string, want shape) bool {
	if !d.plain(n) {
		return false
	}
	got := n.ShortTag()
	if n.Kind == want.kind && got == want.tag {
		return true
	}
	d.fail(n, in(what, fmt.Sprintf("want %s, got %s", want.words, tagWords[got])), repair(n, got, want))
	return false
}

// plain refuses what YAML has and fence.yaml does not need: an alias can make a
// small file huge, and a tag can turn a string into something else.
func (d *decoder) plain(n *yaml.Node) bool {
	switch {
	case n.Kind == yaml.AliasNode:
		d.fail(n, fmt.Sprintf("alias *%s is not read", n.Value), "write the value out")
	case n.Anchor != "":
		d.fail(n, fmt.Sprintf("anchor &%s is not read", n.Anchor), "write the value out where it is used")
	case n.Style&yaml.TaggedStyle != 0:
		d.fail(n, fmt.Sprintf("tag %s is not read", n.Tag), "remove it")
	default:
		return true
	}
	return false
}

// repair is what to write instead where that is clear.
func repair(n *yaml.Node, got string, want shape) string {
	switch {
	case got == "!!null":
		return "give it a value or remove the key"
	case want == aList && n.Kind == yaml.ScalarNode:
		return fmt.Sprintf("write [%s]", brief(n.Value))
	case want == aString && n.Kind == yaml.ScalarNode:
		return fmt.Sprintf("write %q", brief(n.Value))
	case want == aBool:
		return "write true or false without quotes"
	case want == anInt && got == "!!str":
		return "write it without quotes"
	}
	return ""
}

// brief keeps a quoted value from flooding the message.
func brief(s string) string {
	const most = 60
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "..."
}

// object reads a mapping with the given keys and returns the values seen, by
// key; nil if n is not a mapping.
func (d *decoder) object(n *yaml.Node, what string, keys []key) map[string]*yaml.Node {
	known := make([]string, len(keys))
	byName := make(map[string]func(*yaml.Node), len(keys))
	for i, k := range keys {
		known[i], byName[k.name] = k.name, k.decode
	}
	seen := map[string]*yaml.Node{}
	ok := d.entries(n, what, func(k, v *yaml.Node) {
		decode := byName[k.Value]
		if decode == nil {
			d.fail(k, in(what, fmt.Sprintf("unknown key %q", brief(k.Value))),
				suggest.Hint(k.Value, known, "known keys: "+strings.Join(known, ", ")))
			return
		}
		seen[k.Value] = v
		decode(v)
	})
	if !ok {
		return nil
	}
	return seen
}

// entries calls each for every pair of a mapping, in file order, and refuses
// keys that are not words or that stand there twice.
func (d *decoder) entries(n *yaml.Node, what string, each func(k, v *yaml.Node)) bool {
	if !d.is(n, what, aMapping) {
		return false
	}
	first := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind == yaml.ScalarNode && k.ShortTag() == "!!merge" {
			d.fail(k, "merge key << is not read", "write the keys out")
			continue
		}
		if !d.is(k, in(what, "key"), aString) {
			continue
		}
		if f := first[k.Value]; f != nil {
			d.fail(k, in(what, fmt.Sprintf("duplicate key %q", brief(k.Value))), fmt.Sprintf("it is set in line %d already", f.Line))
			continue
		}
		first[k.Value] = k
		each(k, v)
	}
	return true
}

// items calls each for every element of a list.
func (d *decoder) items(n *yaml.Node, what string, each func(*yaml.Node)) {
	if !d.is(n, what, aList) {
		return
	}
	for _, item := range n.Content {
		each(item)
	}
}

// name reads one name of the given syntax.
func (d *decoder) name(n *yaml.Node, what string, check syntax) (Name, bool) {
	if !d.is(n, what, aString) {
		return Name{}, false
	}
	if msg, hint := check(n.Value); msg != "" {
		d.fail(n, fmt.Sprintf("%s: %s", what, msg), hint)
		return Name{}, false
	}
	return Name{Text: n.Value, Pos: d.pos(n)}, true
}

// names is the reader of a list of names.
func (d *decoder) names(dst *[]Name, what string, check syntax) func(*yaml.Node) {
	return func(n *yaml.Node) {
		d.items(n, what, func(item *yaml.Node) {
			if name, ok := d.name(item, what, check); ok {
				*dst = append(*dst, name)
			}
		})
	}
}

// word is the reader of one name whose position nobody needs.
func (d *decoder) word(dst *string, what string, check syntax) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if name, ok := d.name(n, what, check); ok {
			*dst = name.Text
		}
	}
}

// boolean is the reader of true and false.
func (d *decoder) boolean(dst *bool, what string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if d.is(n, what, aBool) {
			*dst = strings.EqualFold(n.Value, "true")
		}
	}
}

// oneOf is the reader of a value that must be one of a few words.
func oneOf[T ~string](d *decoder, dst *T, what string, words []T) func(*yaml.Node) {
	return func(n *yaml.Node) {
		known := make([]string, len(words))
		for i, w := range words {
			known[i] = string(w)
		}
		if !d.is(n, what, aString) {
			return
		}
		for _, w := range words {
			if n.Value == string(w) {
				*dst = w
				return
			}
		}
		d.fail(n, fmt.Sprintf("%s: unknown value %q, want %s", what, brief(n.Value), orList(known)), suggest.Hint(n.Value, known, ""))
	}
}

// orList is "a", "a or b", "a, b or c".
func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
