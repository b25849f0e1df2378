package driver

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/fencelint/fence/analyzers"
	"github.com/fencelint/fence/analyzers/internal/engine"
)

// Selection is which checks run.
type Selection struct {
	On    []analyzers.Check // wherever the configuration does not switch them off
	OptIn []analyzers.Check // only where the configuration gives them a level
}

// Select returns those of all that spec names: "default", "all", names, and
// names with a minus to leave one out, separated by commas and read from left
// to right. A spec that starts with a minus starts from the default, which has
// the checks that are off by default for those who opt in.
func Select(all []analyzers.Check, spec string) (Selection, error) {
	const (
		off = iota
		optIn
		on
	)
	state := make(map[string]int)
	byDefault := func() {
		for _, c := range all {
			want := on
			if c.Doc.NonDefault {
				want = optIn
			}
			state[c.Name] = max(state[c.Name], want)
		}
	}
	for i, word := range strings.Split(spec, ",") {
		word = strings.TrimSpace(word)
		name, minus := strings.CutPrefix(word, "-")
		if i == 0 && minus {
			byDefault()
		}
		switch {
		case word == "default":
			byDefault()
		case word == "all":
			for _, c := range all {
				state[c.Name] = on
			}
		case !slices.ContainsFunc(all, named(name)):
			return Selection{}, unknownCheck(all, name)
		case minus:
			state[name] = off
		default:
			state[name] = on
		}
	}
	var s Selection
	for _, c := range all {
		switch state[c.Name] {
		case on:
			s.On = append(s.On, c)
		case optIn:
			s.OptIn = append(s.OptIn, c)
		}
	}
	if len(s.On)+len(s.OptIn) == 0 && len(all) > 0 {
		return s, &UsageError{Problem: fmt.Sprintf("--checks %s leaves no check to run", spec)}
	}
	return s, nil
}

// narrow drops the checks nobody opted in to.
func (s Selection) narrow(c configs) Selection {
	s.OptIn = slices.DeleteFunc(slices.Clone(s.OptIn), func(check analyzers.Check) bool {
		return !c.mention(check.Name)
	})
	return s
}

// Modular returns the analyzers of a selection for drivers that analyse packages
// one by one: the checks, and the one whose flags give them a configuration.
func (s Selection) Modular(o engine.Options) []*analysis.Analyzer {
	for _, c := range s.OptIn {
		o.OptIn = append(o.OptIn, c.Name)
	}
	env := engine.NewModular(o)
	list := []*analysis.Analyzer{env.Config}
	for _, c := range s.all() {
		list = append(list, c.New(env))
	}
	return list
}

// all returns the checks that run.
func (s Selection) all() []analyzers.Check { return slices.Concat(s.On, s.OptIn) }

func named(name string) func(analyzers.Check) bool {
	return func(c analyzers.Check) bool { return c.Name == name }
}
