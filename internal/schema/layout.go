package schema

import (
	"regexp"
	"strings"
)

// marker is how a migration tool separates, in one file, the part that makes
// the schema from the part that takes it back. Both are comments.
type marker struct{ up, down string }

var markers = []marker{
	{"+goose up", "+goose down"},
	{"migrate:up", "migrate:down"},
	{"+migrate up", "+migrate down"},
}

// statementEnd ends a goose statement whatever the splitter thinks of it.
const statementEnd = "+goose statementend"

// isMarker reports whether a line is the marker, which options may follow
// ("-- migrate:up transaction:false").
func isMarker(line, mark string) bool {
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), "--")
	if !ok {
		return false
	}
	rest = strings.ToLower(strings.Join(strings.Fields(rest), " "))
	return rest == mark || strings.HasPrefix(rest, mark+" ")
}

// annotated reports whether the text carries the marks of a migration tool.
func annotated(text string) bool {
	for line := range strings.Lines(text) {
		for _, m := range markers {
			if isMarker(line, m.up) {
				return true
			}
		}
	}
	return false
}

// keepUp blanks out what only runs when a migration is taken back, and what
// stands before the first mark, its comments excepted. A file without marks is
// left alone.
func (s *source) keepUp() {
	if !annotated(string(s.text)) {
		return
	}
	const before, up, down = 0, 1, 2
	part := before
	for i, start := range s.lines {
		end := len(s.text)
		if i+1 < len(s.lines) {
			end = s.lines[i+1]
		}
		line := string(s.text[start:end])
		for _, m := range markers {
			switch {
			case isMarker(line, m.up):
				part = up
			case isMarker(line, m.down):
				part = down
			}
		}
		comment := strings.HasPrefix(strings.TrimSpace(line), "--")
		if part == down || part == before && !comment {
			s.blank(start, end)
		}
	}
}

var (
	upFile   = regexp.MustCompile(`(?i)^\d+_.*\.up\.sql$`)
	downFile = regexp.MustCompile(`(?i)\.down\.sql$`)
)

// upFiles is the names a migration tool would run forwards, in its order.
// skipped is why the others are not read.
func upFiles(names []string) (files []string, skipped map[string]string) {
	pairs := false
	for _, n := range names {
		pairs = pairs || upFile.MatchString(n)
	}
	skipped = map[string]string{}
	for _, n := range names {
		switch {
		case pairs && downFile.MatchString(n):
		case pairs && !upFile.MatchString(n):
			skipped[n] = "not read: not an .up.sql file like the others of this directory"
		default:
			files = append(files, n)
		}
	}
	sortNaturally(files)
	return files, skipped
}
