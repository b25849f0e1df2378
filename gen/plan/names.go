package plan

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// initialisms are words that Go writes in capitals (go.dev/wiki/CodeReviewComments).
var initialisms = map[string]bool{
	"acl": true, "api": true, "ascii": true, "cpu": true, "css": true, "db": true, "dns": true,
	"eof": true, "guid": true, "html": true, "http": true, "https": true, "id": true, "ids": true,
	"ip": true, "json": true, "jwt": true, "os": true, "qps": true, "ram": true, "rpc": true,
	"sha": true, "sla": true, "smtp": true, "sql": true, "ssh": true, "tcp": true, "tls": true,
	"ttl": true, "udp": true, "ui": true, "uid": true, "uri": true, "url": true, "utc": true,
	"utf8": true, "uuid": true, "vm": true, "xml": true,
}

// goName is the exported Go name of a table or column: order_items is OrderItems, a
// mixedCase name keeps its capitals. It is empty if the name has no letter or digit.
func goName(name string) string {
	s := camelCase(name)
	if r, _ := utf8.DecodeRuneInString(s); s != "" && !unicode.IsUpper(r) {
		return "X" + s // a digit, or a letter of a script without capitals
	}
	return s
}

// camelCase joins the words of a name, each with a capital.
func camelCase(name string) string {
	var b strings.Builder
	for _, word := range words(name) {
		if lower := strings.ToLower(word); initialisms[lower] {
			if lower == "ids" {
				b.WriteString("IDs")
				continue
			}
			b.WriteString(strings.ToUpper(word))
			continue
		}
		r, size := utf8.DecodeRuneInString(word)
		b.WriteRune(unicode.ToUpper(r))
		b.WriteString(word[size:])
	}
	return b.String()
}

// words splits a name at what no identifier has, and where a small letter is followed by
// a capital.
func words(name string) []string {
	var words []string
	start, last := -1, rune(0)
	for i, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			if start >= 0 {
				words = append(words, name[start:i])
			}
			start = -1
		case start < 0:
			start = i
		case unicode.IsUpper(r) && unicode.IsLower(last):
			words = append(words, name[start:i])
			start = i
		}
		last = r
	}
	if start >= 0 {
		words = append(words, name[start:])
	}
	return words
}

// suffixes are those of a table's Go identifiers, and prefixes what may stand before.
var identifiers = []struct {
	prefix, suffix string
	kind           Kind // of the tables that have it; empty: all
}{
	{"", "Key", ""}, {"", "Row", ""}, {"", "Patch", ""}, {"", "Change", ""},
	{"", "Tx", Scope}, {"", "Writer", Row}, {"New", "Writer", Row},
}

// own are the identifiers of a generated package that are of no table.
var own = map[string]bool{"Tx": true, "Writer": true, "InScope": true, "Enter": true, "Guard": true, "Option": true, "InSchema": true, "ObservedBy": true, "GuardSchema": true, "Execer": true, "Beginner": true}
