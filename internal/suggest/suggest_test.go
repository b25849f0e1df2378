package suggest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/fencelint/fence/internal/suggest"
)

func TestNearest(t *testing.T) {
	known := []string{"tables", "guards", "writers", "wallclockexpiry"}
	for got, want := range map[string]string{
		"tabels":                     "tables",          // neighbours swapped
		"Guards":                     "guards",          // case
		"writer":                     "writers",         // a letter short
		"wallclokexpirry":            "wallclockexpiry", // two slips in a long word
		"xyz":                        "",
		"":                           "",
		strings.Repeat("tables", 20): "", // nothing that long is misspelt
	} {
		near, ok := suggest.Nearest(got, known)
		if near != want || ok != (want != "") {
			t.Errorf("Nearest(%q) = %q, %v, want %q", got, near, ok, want)
		}
	}
	if near, ok := suggest.Nearest("tables", slices.Repeat(known, 1000)); ok {
		t.Errorf("of many words, Nearest = %q, want none", near)
	}
}

func TestHint(t *testing.T) {
	if got := suggest.Hint("tabels", []string{"tables"}, "known: tables"); got != `did you mean "tables"?` {
		t.Errorf("Hint = %s", got)
	}
	if got := suggest.Hint("orders", []string{"tables"}, "known: tables"); got != "known: tables" {
		t.Errorf("Hint without a near word = %s", got)
	}
}
