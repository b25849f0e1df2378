package engine

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/fencelint/fence/internal/config"
)

// flags are the values of fenceconfig's flags. They are for drivers that run each
// package by itself and show it no file that is not declared: Bazel's nogo.
//
// What is wrong with one is told where a package of ours is checked: go vet would
// print an error of a flag, with the usage, for each package of the standard
// library.
type flags struct {
	policy  *config.Config
	modules []string // import path prefixes of the main modules
	err     error
}

// add defines the flags.
func (f *flags) add(set *flag.FlagSet) {
	fail := func(err error) { f.err = cmp.Or(f.err, err) }
	for _, o := range []struct {
		once
		usage string
	}{
		{once{name: "policy", read: f.readPolicy}, "the text of a fence.yaml, as YAML or JSON, instead of the file"},
		{once{name: "modules", read: f.readModules}, "import paths of the main modules, separated by commas, where the driver does not know them"},
	} {
		o.fail = fail
		set.Var(&o.once, o.name, o.usage)
	}
}

var errAgain = errors.New("given twice, and the values differ: one run has one configuration, so give it once, to fenceconfig")

func (f *flags) readPolicy(text string) error {
	c, err := config.Parse("policy", []byte(text))
	if err != nil {
		return err
	}
	if len(c.Schema) > 0 {
		return &config.InputError{Pos: c.Schema[0].Pos, Msg: "schema: a policy given by a flag names no files",
			Hint: "say under tables what the schema says of them"}
	}
	f.policy = c
	return nil
}

func (f *flags) readModules(text string) error {
	f.modules = nil
	for m := range strings.SplitSeq(text, ",") {
		m = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSpace(m), "/..."), "/")
		if m == "" {
			return fmt.Errorf("%q has an empty import path: write example.com/app,example.com/lib", text)
		}
		f.modules = append(f.modules, m)
	}
	return nil
}

// once is a flag that takes one value, however often it is given: nogo sets it
// through every check that requires fenceconfig.
type once struct {
	name string
	read func(text string) error
	fail func(error)
	text *string
}

func (o *once) String() string {
	if o.text == nil {
		return ""
	}
	return *o.text
}

func (o *once) Set(text string) error {
	if o.text != nil && *o.text == text {
		return nil
	}
	err := errAgain
	if o.text == nil {
		o.text = &text
		err = o.read(text)
	}
	if err != nil {
		o.fail(fmt.Errorf("fenceconfig: flag %s: %w", o.name, err))
	}
	return nil
}
