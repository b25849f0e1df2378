package main

import (
	"fmt"
	"io"
	"os"
)

// statusLine tells people at a terminal what happens; to anything else it says
// nothing, so that logs and pipes hold findings and errors only.
type statusLine struct {
	w io.Writer // nil if nobody watches
}

func newStatusLine(w io.Writer) *statusLine {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return &statusLine{}
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return &statusLine{}
	}
	return &statusLine{w}
}

// eraseLine moves to the start of the line and erases it.
const eraseLine = "\r\x1b[K"

// show replaces the line.
func (s *statusLine) show(step string) {
	if s.w != nil {
		fmt.Fprint(s.w, eraseLine, step)
	}
}

// clear erases the line, before anything else is printed.
func (s *statusLine) clear() {
	if s.w != nil {
		fmt.Fprint(s.w, eraseLine)
	}
}

// print prints a line that stays.
func (s *statusLine) print(line string) {
	if s.w != nil {
		fmt.Fprintln(s.w, line)
	}
}
