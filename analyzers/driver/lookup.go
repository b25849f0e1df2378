package driver

import (
	"fmt"

	"github.com/fencelint/fence/analyzers"
	"github.com/fencelint/fence/internal/suggest"
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
	known := make([]string, len(all))
	for i, c := range all {
		known[i] = c.Name
	}
	return &UsageError{
		Problem: fmt.Sprintf("unknown check %q", name),
		Fix:     suggest.Hint(name, known, "fence explain lists the checks"),
	}
}
