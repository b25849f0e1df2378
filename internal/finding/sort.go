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

// Compact removes findings that say the same at the same place as their
// predecessor. A file that belongs to a package and to its test variant is
// checked twice, and the related places may differ in what was known. The
// findings must be sorted.
func Compact(fs []Finding) []Finding {
	return slices.CompactFunc(fs, func(a, b Finding) bool {
		return a.Location == b.Location && a.Code == b.Code && a.Message == b.Message
	})
}
