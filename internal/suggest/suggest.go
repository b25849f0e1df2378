// Package suggest answers one question: which known word did they mean?
package suggest

import (
	"fmt"
	"strings"
)

// Hint asks for the known word nearest to got, or is fallback if none is near.
func Hint(got string, known []string, fallback string) string {
	if w, ok := Nearest(got, known); ok {
		return fmt.Sprintf("did you mean %q?", w)
	}
	return fallback
}

// Nearest is the first of the known words with the smallest edit distance to
// got, as long as that is at most a third of got: beyond that a suggestion
// misleads.
func Nearest(got string, known []string) (string, bool) {
	const longest, most = 64, 2000 // beyond that nothing is misspelt, and distance is slow
	if len(got) > longest || len(known) > most {
		return "", false
	}
	best, limit := "", len([]rune(got))/3+2
	for _, w := range known {
		if d := distance(got, w); d < limit {
			best, limit = w, d
		}
	}
	return best, best != ""
}

// distance counts the letters to insert, drop, change or swap with their
// neighbour to get from a to b, upper and lower case being equal.
func distance(a, b string) int {
	s, t := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	var before, last []int
	row := make([]int, len(t)+1)
	for j := range row {
		row[j] = j
	}
	for i := range s {
		before, last = last, row
		row = make([]int, len(t)+1)
		row[0] = i + 1
		for j := range t {
			change := last[j]
			if s[i] != t[j] {
				change++
			}
			row[j+1] = min(change, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && s[i] == t[j-1] && s[i-1] == t[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(t)]
}
