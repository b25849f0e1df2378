package schema

import (
	"regexp"
	"strings"
)

// tails are what can follow the first word of a type that has several; the
// longest come first.
var tails = map[string][]string{
	"double":    {"precision"},
	"character": {"varying"},
	"char":      {"varying"},
	"bit":       {"varying"},
	"national":  {"character varying", "char varying", "varchar", "character", "char"},
	"time":      {"without time zone", "with time zone"},
	"timestamp": {"without time zone", "with time zone"},
}

var (
	typeWord  = regexp.MustCompile(`^(?:"(?:[^"]|"")*"|[\pL_\x{80}-\x{10ffff}][\pL\pN_$\x{80}-\x{10ffff}]*)(?:\s*\.\s*(?:"(?:[^"]|"")*"|[\pL_][\pL\pN_$]*))*`)
	typeArgs  = regexp.MustCompile(`^\s*\([^()]*\)`)
	typeArray = regexp.MustCompile(`(?i)^\s*(\[\s*\d*\s*\]|array\b(\s*\[\s*\d*\s*\])?)`)
)

// writtenType is the type at the start of text as written, in lower case and
// without lengths: "character varying", "numeric", "text[]".
func writtenType(text string) string {
	first := typeWord.FindString(text)
	if first == "" {
		return ""
	}
	rest := text[len(first):]
	t := strings.Join(strings.Fields(strings.ToLower(first)), "")
	rest = strings.TrimPrefix(rest, typeArgs.FindString(rest))
	for _, tail := range tails[t] {
		if after, ok := cutWords(rest, tail); ok {
			t, rest = t+" "+tail, after
			break
		}
	}
	rest = strings.TrimPrefix(rest, typeArgs.FindString(rest))
	for {
		a := typeArray.FindString(rest)
		if a == "" {
			return t
		}
		t, rest = t+"[]", rest[len(a):]
	}
}

// cutWords cuts the given words from the start of text, whatever their case and
// the blanks between them.
func cutWords(text, words string) (rest string, ok bool) {
	for _, w := range strings.Fields(words) {
		text = strings.TrimLeft(text, " \t\r\n\f\v")
		if len(text) < len(w) || !strings.EqualFold(text[:len(w)], w) {
			return "", false
		}
		text = text[len(w):]
		if text != "" && isWordByte(text[0]) {
			return "", false
		}
	}
	return text, true
}
