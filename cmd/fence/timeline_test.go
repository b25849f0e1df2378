package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// The timeline of a finding has the file's own lines at the events, and ends with the late
// write: accepted as the code is, rejected if it compared a token.
func TestExplainTimeline(t *testing.T) {
	wrong := filepath.Join(repository, "testdata", "demo", "wrong", "wrong.go")
	for line, want := range map[string][]string{
		"109": {"wrong.go:101  ownership is checked here", "stands still for 19s", "goes on: wrong.go:109  sends its write", "ACCEPTS", "rejects it: expected a fence of at least 2, received 1"},
		"101": {"wrong.go:109  sends its write"}, // the check of the same finding
		"54":  {"cannot reach the coordinator", "wrong.go:54  by its own clock", "ACCEPTS", "rejects it"},
	} {
		out, _ := command(t, 0, "explain", "--timeline", wrong+":"+line)
		rest := out
		for _, w := range want {
			_, after, ok := strings.Cut(rest, w)
			if !ok {
				t.Errorf("line %s: want %q, in this order, in\n%s", line, w, out)
				break
			}
			rest = after
		}
	}
	for at, want := range map[string]string{
		wrong + ":1":        "it does in line 54",
		wrong:               "write FILE:LINE",
		wrong + ":0":        "write FILE:LINE",
		"no/such/file.go:3": "there is no such file",
		filepath.Join(repository, "testdata", "demo", "right", "right.go") + ":9": "finds nothing in",
	} {
		if _, stderr := command(t, 2, "explain", "--timeline", at); !strings.Contains(stderr, want) {
			t.Errorf("%s: %s", at, stderr)
		}
	}
	command(t, 2, "explain", "--timeline", wrong+":109", "checkthenwrite")
}
