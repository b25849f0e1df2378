package migrate

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// longest is the most bytes that a name has in every dialect.
const longest = 63

// objectName is the name of what belongs to a table: fence_orders_bu. A name that is too
// long ends in a hash of the whole of it.
func objectName(table, suffix string) string {
	name := "fence_" + table + "_" + suffix
	if len(name) <= longest {
		return name
	}
	h := fnv.New32a()
	h.Write([]byte(table))
	tail := fmt.Sprintf("_%08x_%s", h.Sum32(), suffix)
	cut := longest - len(tail)
	for !utf8.RuneStart(name[cut]) {
		cut--
	}
	return name[:cut] + tail
}

// numbered is the number that a migration's name begins with.
var numbered = regexp.MustCompile(`^(\d+)[_.-]`)

// stem is the name of a new migration without its ending. It comes after those that are
// there: numbers go on from the highest one and are as wide, times as well, so that the
// name is the same whenever it is made.
func stem(f Format, existing []string) string {
	highest := ""
	for _, name := range existing {
		m := numbered.FindStringSubmatch(name)
		if m != nil && (highest == "" || compareNumbers(m[1], highest) > 0) {
			highest = m[1]
		}
	}
	switch {
	case highest != "":
		return increment(highest) + "_fence"
	case layouts[f].first != "":
		return layouts[f].first + "_fence"
	}
	return unnumbered(existing)
}

// increment is the next number, as wide as n if it fits.
func increment(n string) string {
	b := []byte(n)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < '9' {
			b[i]++
			return string(b)
		}
		b[i] = '0'
	}
	return "1" + string(b)
}

// again is the stem of a migration of ours.
var again = regexp.MustCompile(`^(.*_)?fence(?:_(\d+))?$`)

// unnumbered is a stem that comes last among files without numbers.
func unnumbered(existing []string) string {
	last := ""
	for _, name := range existing {
		if isSQL(name) && (last == "" || natural(name, last) > 0) {
			last = name
		}
	}
	if last == "" {
		return "fence"
	}
	last = last[:len(last)-len(".sql")]
	if m := again.FindStringSubmatch(last); m != nil {
		n, err := strconv.Atoi(cmp.Or(m[2], "1"))
		if err == nil {
			return m[1] + "fence_" + strconv.Itoa(n+1)
		}
	}
	if natural("fence.sql", last+".sql") > 0 {
		return "fence"
	}
	return last + "_fence"
}

func isSQL(name string) bool {
	return len(name) > len(".sql") && strings.EqualFold(name[len(name)-len(".sql"):], ".sql")
}

// sortNaturally sorts names as they are read, digits as numbers (see internal/schema).
func sortNaturally(names []string) { slices.SortFunc(names, natural) }

func natural(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		n, m := digits(x), digits(y)
		if n > 0 && m > 0 {
			if c := compareNumbers(x[:n], y[:m]); c != 0 {
				return c
			}
			x, y = x[n:], y[m:]
			continue
		}
		if x[0] != y[0] {
			return cmp.Compare(x[0], y[0])
		}
		x, y = x[1:], y[1:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(a, b))
}

// digits counts the digits s starts with.
func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }

// compareNumbers compares numbers of any length.
func compareNumbers(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}
