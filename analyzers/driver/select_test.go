package driver_test

import (
	"errors"
	"strings"
	"testing"

	"honnef.co/go/tools/analysis/lint"

	"github.com/fencelint/fence/analyzers"
	"github.com/fencelint/fence/analyzers/driver"
)

func TestSelect(t *testing.T) {
	all := []analyzers.Check{
		{Name: "first", Doc: &lint.RawDocumentation{}},
		{Name: "second", Doc: &lint.RawDocumentation{}},
		{Name: "third", Doc: &lint.RawDocumentation{NonDefault: true}},
	}
	const lists = "\nfence explain lists the checks"
	for _, test := range []struct{ spec, want string }{
		{"default", "first second (third)"},
		{"all", "first second third"},
		{"third", "third"},
		{"third,first", "first third"},
		{"-first", "second (third)"},
		{"-third", "first second"},
		{"all,-first", "second third"},
		{" all , -first ", "second third"},
		{"-first,first", "first second (third)"},
		{"third,default", "first second third"},
		{"fisrt", `error: unknown check "fisrt"` + "\ndid you mean \"first\"?"},
		{"First", `error: unknown check "First"` + "\ndid you mean \"first\"?"},
		{"all,-thrd", `error: unknown check "thrd"` + "\ndid you mean \"third\"?"},
		{"SA1000", `error: unknown check "SA1000"` + lists},
		{"", `error: unknown check ""` + lists},
		{"-all", `error: unknown check "all"` + lists},
		{"first,-first", "error: --checks first,-first leaves no check to run"},
	} {
		selection, err := driver.Select(all, test.spec)
		var names []string
		for _, c := range selection.On {
			names = append(names, c.Name)
		}
		for _, c := range selection.OptIn {
			names = append(names, "("+c.Name+")")
		}
		got := strings.Join(names, " ")
		if err != nil {
			got = "error: " + err.Error()
			var usage *driver.UsageError
			if !errors.As(err, &usage) {
				t.Errorf("%q: %T is no usage error", test.spec, err)
			}
		}
		if got != test.want {
			t.Errorf("Select(%q):\n got %s\nwant %s", test.spec, got, test.want)
		}
	}
}
