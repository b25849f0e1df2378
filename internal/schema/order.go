package schema

import (
	"cmp"
	"slices"
	"strings"
)

// sortNaturally sorts names so that digits count as numbers: 9_b before 10_a,
// V9__b before V10__a.
func sortNaturally(names []string) {
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(natural(a, b), strings.Compare(a, b))
	})
}

func natural(a, b string) int {
	for a != "" && b != "" {
		na, nb := digits(a), digits(b)
		if na > 0 && nb > 0 {
			x, y := strings.TrimLeft(a[:na], "0"), strings.TrimLeft(b[:nb], "0")
			if c := cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y)); c != 0 {
				return c
			}
			a, b = a[na:], b[nb:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

// digits counts the digits s starts with.
func digits(s string) int {
	return len(s) - len(strings.TrimLeft(s, "0123456789"))
}
