package config

import (
	"errors"
	"reflect"
	"testing"

	"golang.org/x/tools/txtar"
)

// FuzzParse: never a panic, the same verdict twice, and errors that name a
// place in the input.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"accepted", "structure", "syntax", "names", "contradictions"} {
		a, err := txtar.ParseFile("testdata/" + name + ".txtar")
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range a.Files {
			f.Add(file.Data)
		}
	}
	for _, doc := range documents {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse("f", data)
		again, errAgain := Parse("f", data)
		if !reflect.DeepEqual(c, again) || !reflect.DeepEqual(err, errAgain) {
			t.Fatalf("two verdicts: %v, %v", err, errAgain)
		}
		if err == nil {
			return
		}
		var all Errors
		if !errors.As(err, &all) {
			t.Fatalf("not a list of places: %v", err)
		}
		last := Pos{}
		for _, e := range all {
			if e.Pos.Line < 1 || e.Pos.Column < 1 || e.Msg == "" || e.Pos.Line < last.Line {
				t.Errorf("%+v", e)
			}
			last = e.Pos
		}
	})
}

func fuzzDirective(f *testing.F, start string, parse func(string, Pos) (Directive, bool, error), write func(Directive) string, seeds ...string) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, text := range []string{text, start + text} {
			d, ok, err := parse(text, Pos{File: "f", Line: 1, Column: 1})
			if !ok || err != nil {
				continue
			}
			again, ok, err := parse(write(d), d.Pos)
			if !ok || err != nil || !reflect.DeepEqual(d, again) {
				t.Errorf("%q: %+v, then %+v, %t, %v", text, d, again, ok, err)
			}
		}
	})
}

// written is the directive's words.
func written(d Directive) string {
	text := d.Verb
	for _, a := range d.Args {
		text += " " + a
	}
	for k, v := range d.Options {
		text += " " + k + "=" + v
	}
	return text
}

func FuzzParseGo(f *testing.F) {
	fuzzDirective(f, "//fence:", ParseGo, func(d Directive) string { return "//fence:" + written(d) },
		"//fence:check", "//fence:write orders", "// fence:token", "write a b // c", "effect idempotent", "token rule=equal", "protect resource=a:{b}")
}

func FuzzParseSQL(f *testing.F) {
	fuzzDirective(f, "-- fence:", ParseSQL, func(d Directive) string { return "-- fence:" + written(d) },
		"-- fence:token rule=equal", "/* fence:expiry */", "# fence:protect guard=a", "protect resource=a:{b} guard=c", "token -- x")
}
