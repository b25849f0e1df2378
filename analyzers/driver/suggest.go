package driver

import (
	"fmt"
	"strings"

	"github.com/fencelint/fence/analyzers"
)

// Lookup finds a check by name. The error for a name that is none suggests the
// one that was meant.
func Lookup(all []analyzers.Check, name string) (analyzers.Check, error) {
	for _, c := range all {
		if c.Name == name {
			return c, nil
		}
	}
	return analyzers.Check{}, unknownCheck(all, name)
}

func unknownCheck(all []analyzers.Check, name string) error {
	err := &UsageError{Problem: fmt.Sprintf("unknown check %q", name), Fix: "fence explain lists the checks"}
	if near := nearest(all, name); near != "" {
		err.Fix = fmt.Sprintf("did you mean %q?", near)
	}
	return err
}

// nearest returns the check whose name takes the fewest edits to reach from
// name, if that is few enough to be a slip.
func nearest(all []analyzers.Check, name string) string {
	best, limit := "", len(name)/3+1
	for _, c := range all {
		if d := distance(strings.ToLower(name), c.Name); d <= limit {
			best, limit = c.Name, d-1
		}
	}
	return best
}

// distance counts the letters to insert, delete or replace to turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
