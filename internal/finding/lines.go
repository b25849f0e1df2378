package finding

import (
	"strings"
	"unicode/utf16"
)

// lines counts columns as editors and SARIF do. Places count bytes, as go/token
// does, so the text of the line is needed. Each file is read once.
type lines struct {
	read  func(file string) ([]byte, error)
	files map[string][]string
}

func newLines(read func(file string) ([]byte, error)) *lines {
	return &lines{read, make(map[string][]string)}
}

// column returns the column of a place in UTF-16 code units. It is not known if the
// file cannot be read any more, or has no such column.
func (l *lines) column(p Place) (int, bool) {
	text, ok := l.line(p)
	if !ok || p.Column < 1 || p.Column > len(text)+1 {
		return 0, false
	}
	return codeUnits(text[:p.Column-1]) + 1, true
}

// end returns the column behind the last one of a place's line.
func (l *lines) end(p Place) (int, bool) {
	text, ok := l.line(p)
	return codeUnits(text) + 1, ok
}

// line returns the text of a place's line.
func (l *lines) line(p Place) (string, bool) {
	text, ok := l.files[p.File]
	if !ok {
		content, err := l.read(p.File)
		if err == nil {
			text = strings.Split(string(content), "\n")
		}
		l.files[p.File] = text
	}
	if p.Line < 1 || p.Line > len(text) {
		return "", false
	}
	return strings.TrimSuffix(text[p.Line-1], "\r"), true
}

const byteOrderMark = '\uFEFF'

func codeUnits(text string) int {
	n := 0
	for _, r := range text {
		if r != byteOrderMark { // it may start a file, and is no part of its text
			n += utf16.RuneLen(r)
		}
	}
	return n
}
