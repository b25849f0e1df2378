package schema

import (
	"bytes"
	"sort"
	"unicode/utf8"

	"github.com/fencelint/fence/internal/config"
)

// source is one file. Everything that is not read is blanked out, never cut, so
// that an offset into text is an offset into the file.
type source struct {
	file  string
	text  []byte
	bare  []byte // text without its comments, set by split
	lines []int  // offsets at which lines start
}

func newSource(file string, data []byte) *source {
	s := &source{file: file, text: bytes.Clone(data), lines: []int{0}}
	s.text = bytes.ReplaceAll(s.text, []byte{0}, []byte{' '})
	if bytes.HasPrefix(s.text, []byte("\ufeff")) {
		s.blank(0, len("\ufeff"))
	}
	for i := 0; i < len(s.text); {
		r, size := utf8.DecodeRune(s.text[i:])
		if r == utf8.RuneError && size == 1 {
			s.text[i] = '?' // an old comment in another encoding must not cost the file
		}
		if r == '\n' {
			s.lines = append(s.lines, i+1)
		}
		i += size
	}
	return s
}

// blank overwrites text with blanks, line breaks excepted.
func (s *source) blank(start, end int) { blank(s.text, start, end) }

func blank(text []byte, start, end int) {
	for i := start; i < end; i++ {
		if text[i] != '\n' {
			text[i] = ' '
		}
	}
}

// pos is where an offset is in the file.
func (s *source) pos(offset int) config.Pos {
	line := s.line(offset)
	return config.Pos{File: s.file, Line: line + 1, Column: offset - s.lines[line] + 1}
}

// line is the index of the line an offset is on.
func (s *source) line(offset int) int {
	return sort.SearchInts(s.lines, offset+1) - 1
}

// lineEnd is the offset of the line break at or after offset, or of the end.
func (s *source) lineEnd(offset int) int {
	if i := bytes.IndexByte(s.text[offset:], '\n'); i >= 0 {
		return offset + i
	}
	return len(s.text)
}
