package driver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fencelint/fence/analyzers"
)

// Select returns those of all that spec names: "default", "all", names, and
// names with a minus to leave one out, separated by commas and read from left
// to right. A spec that starts with a minus starts from the default.
func Select(all []analyzers.Check, spec string) ([]analyzers.Check, error) {
	chosen := make(map[string]bool)
	for i, word := range strings.Split(spec, ",") {
		word = strings.TrimSpace(word)
		name, minus := strings.CutPrefix(word, "-")
		if i == 0 && minus {
			choose(chosen, all, byDefault)
		}
		switch {
		case word == "all":
			choose(chosen, all, func(analyzers.Check) bool { return true })
		case word == "default":
			choose(chosen, all, byDefault)
		case !slices.ContainsFunc(all, named(name)):
			return nil, unknownCheck(all, name)
		default:
			chosen[name] = !minus
		}
	}
	var selected []analyzers.Check
	for _, c := range all {
		if chosen[c.Name] {
			selected = append(selected, c)
		}
	}
	if len(selected) == 0 && len(all) > 0 {
		return nil, &UsageError{Problem: fmt.Sprintf("--checks %s leaves no check to run", spec)}
	}
	return selected, nil
}

func choose(chosen map[string]bool, all []analyzers.Check, wanted func(analyzers.Check) bool) {
	for _, c := range all {
		if wanted(c) {
			chosen[c.Name] = true
		}
	}
}

func byDefault(c analyzers.Check) bool { return !c.Doc.NonDefault }

func named(name string) func(analyzers.Check) bool {
	return func(c analyzers.Check) bool { return c.Name == name }
}
