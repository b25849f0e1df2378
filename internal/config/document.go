package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// maxFile is far above any file a person writes and far below what would make
// the YAML parser slow.
const maxFile = 1 << 20

// document is the root node of the only YAML document in data; nil if there is
// nothing but blanks and comments.
func document(file string, data []byte) (*yaml.Node, error) {
	at := func(line, column int) Pos { return Pos{File: file, Line: line, Column: column} }
	if len(data) > maxFile {
		return nil, Errors{{Pos: at(1, 1), Msg: fmt.Sprintf("the file has %d bytes, more than the %d that are read", len(data), maxFile)}}
	}
	if i := invalidUTF8(data); i >= 0 {
		return nil, Errors{{Pos: offsetPos(file, data, i), Msg: "not UTF-8", Hint: "save the file as UTF-8"}}
	}
	docs := yaml.NewDecoder(bytes.NewReader(data))
	first, err := next(docs)
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err != nil {
		return nil, Errors{syntaxError(file, data, err)}
	}
	second, err := next(docs)
	if err == nil {
		return nil, Errors{{Pos: at(max(second.Line, 1), max(second.Column, 1)), Msg: "a second document", Hint: "keep one document: remove the --- before it"}}
	}
	if !errors.Is(err, io.EOF) {
		return nil, Errors{syntaxError(file, data, err)}
	}
	if len(first.Content) == 0 || isBlank(first.Content[0]) {
		return nil, nil
	}
	return first.Content[0], nil
}

// isBlank says whether the node stands for text that is not there.
func isBlank(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "" && n.Style == 0 && n.Anchor == ""
}

// next reads one document. The YAML parser is not ours and reports some broken
// input by panicking, which must not take the run down.
func next(docs *yaml.Decoder) (n *yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("yaml: %v", p)
		}
	}()
	n = new(yaml.Node)
	return n, docs.Decode(n)
}

func invalidUTF8(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

var (
	yamlLine      = regexp.MustCompile(`^line (\d+): `)
	unknownAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced`)
)

// offsetPos is the position of an offset into data.
func offsetPos(file string, data []byte, offset int) Pos {
	before := data[:offset]
	return Pos{File: file, Line: 1 + bytes.Count(before, []byte("\n")), Column: offset - bytes.LastIndexByte(before, '\n')}
}

// find is the position of the first occurrence of part.
func find(file string, data []byte, part string) Pos {
	return offsetPos(file, data, max(bytes.Index(data, []byte(part)), 0))
}

// syntaxHints says in plain words what usually is behind a message of the YAML
// parser.
var syntaxHints = []struct{ part, hint string }{
	{"mapping values are not allowed", `a value that contains ": " needs quotes, and a nested key needs a line of its own`},
	{"unknown anchor", "anchors and aliases are not read here: write the value out"},
	{"did not find expected key", "look at the indentation and the quotes of this and the line above"},
	{"did not find expected ',' or", "look for a missing comma or closing bracket"},
	{"found unexpected end of stream", "look for a missing closing quote"},
	{"could not find expected ':'", "every line of a mapping is key: value"},
	{"cannot start any token", "a value that starts with @, `, % or another special character needs quotes"},
	{"exceeded max depth", "nothing here nests deeper than four levels"},
}

// syntaxError turns the YAML parser's error, which has a line at most, into one
// of ours.
func syntaxError(file string, data []byte, err error) *InputError {
	msg := strings.TrimPrefix(err.Error(), "yaml: ")
	e := &InputError{Pos: Pos{File: file, Line: 1, Column: 1}}
	if m := yamlLine.FindStringSubmatch(msg); m != nil {
		msg = msg[len(m[0]):]
		if line, err := strconv.Atoi(m[1]); err == nil {
			e.Pos.Line = line
		}
		if strings.HasPrefix(msg, "did not find") {
			e.Pos.Line++ // these count lines from 0
		}
	}
	if m := unknownAnchor.FindStringSubmatch(msg); m != nil {
		e.Pos = find(file, data, "*"+m[1])
	}
	e.Msg = "not YAML: " + msg
	for _, h := range syntaxHints {
		if strings.Contains(msg, h.part) {
			e.Hint = h.hint
			break
		}
	}
	// A tab is the usual cause, and its own line is a better place than the one
	// at which the parser gave up.
	for i, line := range bytes.Split(data, []byte("\n")) {
		indent := line[:len(line)-len(bytes.TrimLeft(line, " \t"))]
		if tab := bytes.IndexByte(indent, '\t'); tab >= 0 && i < e.Pos.Line+1 && len(bytes.TrimSpace(line)) > 0 {
			e.Pos.Line, e.Pos.Column = i+1, tab+1
			e.Hint = "indent with blanks: YAML allows no tabs there"
			break
		}
	}
	return e
}
