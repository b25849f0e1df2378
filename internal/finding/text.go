package finding

import (
	"bufio"
	"fmt"
	"io"
)

// TextOptions say how findings are printed for people.
type TextOptions struct {
	// Path rewrites a file name, say to what can be opened from the current
	// directory; nil prints names as they are.
	Path func(file string) string
}

// WriteText prints findings for people, one a line, each followed by its
// related places, indented.
func WriteText(w io.Writer, fs []Finding, o TextOptions) error {
	path := o.Path
	if path == nil {
		path = func(file string) string { return file }
	}
	out := bufio.NewWriter(w)
	line := func(indent string, at Place, message string) {
		fmt.Fprintf(out, "%s%s:%d:%d: %s\n", indent, path(at.File), at.Line, at.Column, message)
	}
	for _, f := range fs {
		message := f.Message
		if f.Severity == Warning {
			message = "warning: " + message
		}
		line("", f.Location, message)
		for _, r := range f.Related {
			line("\t", r.Location, r.Message)
		}
	}
	return out.Flush()
}
