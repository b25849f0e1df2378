package finding

import (
	"cmp"
	"slices"
)

// Sort puts findings in the order they are printed in: by place, then by check
// and message, so that the order never depends on how they were found.
func Sort(fs []Finding) { slices.SortStableFunc(fs, compare) }

func compare(a, b Finding) int {
	return cmp.Or(
		comparePlaces(a.Location, b.Location),
		cmp.Compare(a.Code, b.Code),
		cmp.Compare(a.Message, b.Message),
		comparePlaces(a.End, b.End),
		slices.CompareFunc(a.Related, b.Related, compareRelated),
	)
}

func comparePlaces(a, b Place) int {
	return cmp.Or(
		cmp.Compare(a.File, b.File),
		cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Column, b.Column),
	)
}

func compareRelated(a, b Related) int {
	return cmp.Or(
		comparePlaces(a.Location, b.Location),
		comparePlaces(a.End, b.End),
		cmp.Compare(a.Message, b.Message),
	)
}

// Compact removes findings that equal their predecessor in everything that is
// printed. A file that belongs to a package and to its test variant is checked
// twice; fs must be sorted.
func Compact(fs []Finding) []Finding {
	return slices.CompactFunc(fs, func(a, b Finding) bool { return compare(a, b) == 0 })
}
