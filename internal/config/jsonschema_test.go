package config

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
	"golang.org/x/tools/txtar"
)

const schemaFile = "../../docs/fence.schema.json"

// notInSchema lists what Parse refuses and a JSON Schema does not see, by a part
// of the message: the syntax of names, references between keys, and what is gone
// once YAML has become JSON.
var notInSchema = []string{
	"is not under guards", "cannot be open", // references
	"is not the name of", "is not a column", "is not a table", "is not an import path", "is not a pattern",
	"is not a path below", "is a pattern", "has blanks around it", "control character", "is not a package name",
	"is not below this directory", "is not a Go identifier", // names
	"duplicate key", "is not read", "a second document", "not YAML", "key: want a string", // YAML
}

func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	s, err := c.Compile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// toJSON is the document as an editor shows it to the schema.
func toJSON(t *testing.T, data string) (value any, ok bool) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(data), &value); err != nil {
		return nil, false
	}
	if value == nil && !strings.Contains(data, "null") {
		value = map[string]any{}
	}
	return value, true
}

// structural reports whether Parse refuses data for a reason the schema knows.
func structural(data string) (bad bool, why string) {
	_, err := Parse(FileName, []byte(data))
	var all Errors
	if !errors.As(err, &all) {
		return false, ""
	}
	for _, e := range all {
		if !slices.ContainsFunc(notInSchema, func(part string) bool { return strings.Contains(e.Msg, part) }) {
			return true, e.Error()
		}
	}
	return false, ""
}

// documents are what both must judge alike, beside those in testdata.
var documents = []string{
	"", "version: 1", "version: 2", "version: one", "version: true", "strict: true", "strict: 1",
	"dialect: mysql", "dialect: mariadb", "dialect: sqlite", "dialect: oracle", "dialect: 1",
	"schema: []", "schema: [a.sql]", "schema: a.sql", "schema: {a: b}", "schema: [1]", "schema: [[a]]", `schema: [""]`,
	"fence_columns: [a, {name: b}, {name: c, rule: equal}]", "fence_columns: [{}]", "fence_columns: [{name: a, role: b}]", "fence_columns: [{name: a, rule: x}]", "fence_columns: [[a]]",
	"tables: {}", "tables: {a: {}}", "tables: []", "tables: {a: x}", "tables: {a: {fence: x}}", "tables: {a: {fence: [x]}}", `tables: {a: {fence: ""}}`,
	"tables: {a: {fence: x, rule: monotonic}}", "tables: {a: {rule: equal}}", "tables: {a: {resource: x}}", "tables: {a: {resource: 1}}",
	"tables: {a: {guard: transaction}}", "tables: {a: {guard: transaction, rule: equal}}", "tables: {a: {guard: transaction, rule: equal, fence: f}}",
	"tables: {a: {protect: true}}", "tables: {a: {protect: false}}", "tables: {a: {protect: yes}}", "tables: {a: {protect: true, fence: x}}",
	"tables: {a: {protect: true, guard: transaction}}", "tables: {a: {protect: true, enforced: trigger}}", "tables: {a: {protect: true, rule: equal}}", "tables: {a: {protect: true, resource: r, open: [x]}}",
	"tables: {a: {enforced: trigger}}", "tables: {a: {enforced: rule}}", "tables: {a: {open: x}}", "tables: {a: {open: [x, y]}}",
	"guards: {}", "guards: {a: {}}", "guards: {a: {token: x, grant: y, resource: z}}", "guards: {a: {tokn: x}}", "guards: {a: [x]}", "guards: {transaction: {token: x}}",
	"writers: [a/b]", "writers: a/b", "resources: []", "resources: {}", "resources: [{name: a}]", "resources: [{writes: [a/b.C]}]",
	"resources: [{name: a, writes: [a/b.C], fenced: [a/b.D], keys: [x]}]", "resources: [{name: a, keys: x}]", "resources: [{name: 1, keys: [x]}]",
	"tokens: [a/b.C]", "tokens: a/b.C", "grants: [a/b.C]", "grants: {}", "leases: {}", "leases: {checks: [a/b.C], lost: []}", "leases: {check: []}", "leases: [x]",
	"effects: {}", "effects: {idempotency: [A], fence_headers: [B], calls: [a/b.C]}", "effects: {headers: [A]}", "effects: {calls: a/b.C}",
	"checks: {}", "checks: {unfencedwrite: off, fencecompare: error, unboundrun: warning}", "checks: {unfencedwrite: fatal}", "checks: {unfencedwrites: off}", "checks: {unfencedwrite: 1}", "checks: [unfencedwrite]",
	"exclude: [a/**]", "exclude: a", "analyze: [a/...]", "analyze: 1", "generate: {}", "generate: {package: a, dir: b, driver: database/sql, tests: false}", "generate: {driver: pgx}", "generate: {tests: 1}", "generate: []",
	"version: null", "tables: null", "tables: {a: null}", "tokens: [null]", "[]", "x", "1", "unknown: 1",
}

func TestSchemaAgreesWithParse(t *testing.T) {
	s := compileSchema(t)
	docs := slices.Clone(documents)
	for _, name := range []string{"accepted", "structure", "names", "contradictions"} {
		a, err := txtar.ParseFile("testdata/" + name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Files {
			if strings.HasSuffix(f.Name, ".yaml") {
				docs = append(docs, string(f.Data))
			}
		}
	}
	for _, doc := range docs {
		value, ok := toJSON(t, doc)
		if !ok {
			continue // not YAML, or a duplicate key
		}
		bad, why := structural(doc)
		err := s.Validate(value)
		if bad != (err != nil) && !emptyOnly(doc) {
			t.Errorf("%s\nParse: %v\nschema: %v", doc, why, err)
		}
	}
}

// emptyOnly reports whether all of Parse's errors are about names: an empty one
// is structure for the schema and syntax for Parse.
func emptyOnly(doc string) bool {
	_, err := Parse(FileName, []byte(doc))
	return err != nil && strings.Contains(doc, `""`)
}

// TestSchemaKeys compares the keys of every mapping with those Parse offers for
// an unknown one.
func TestSchemaKeys(t *testing.T) {
	s := compileSchema(t)
	const unknown = "zzzzzzzz: 1"
	for _, test := range []struct {
		doc  string
		path []string // through properties; "*" is the value of any key, "[]" an item
	}{
		{unknown, nil},
		{"tables: {a: {" + unknown + "}}", []string{"tables", "*"}},
		{"guards: {a: {" + unknown + "}}", []string{"guards", "*"}},
		{"fence_columns: [{" + unknown + "}]", []string{"fence_columns", "[]"}},
		{"resources: [{" + unknown + "}]", []string{"resources", "[]"}},
		{"leases: {" + unknown + "}", []string{"leases"}},
		{"effects: {" + unknown + "}", []string{"effects"}},
		{"checks: {" + unknown + "}", []string{"checks"}},
		{"generate: {" + unknown + "}", []string{"generate"}},
	} {
		at := s
		for _, step := range test.path {
			at = descend(deref(at), step)
		}
		for _, one := range deref(at).OneOf {
			if deref(one).Properties != nil {
				at = one
			}
		}
		want := slices.Sorted(maps.Keys(deref(at).Properties))
		_, err := Parse(FileName, []byte(test.doc))
		var all Errors
		if !errors.As(err, &all) {
			t.Fatalf("%s: %v", test.doc, err)
		}
		got := strings.Split(strings.TrimPrefix(all[0].Hint, "known keys: "), ", ")
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: Parse knows %v, the schema %v", test.doc, got, want)
		}
		for _, key := range want {
			if p := deref(at).Properties[key]; p.Description == "" && deref(p).Description == "" {
				t.Errorf("%v: %s has no description", test.path, key)
			}
		}
	}
}

func deref(s *jsonschema.Schema) *jsonschema.Schema {
	for s.Ref != nil {
		s = s.Ref
	}
	return s
}

func descend(s *jsonschema.Schema, step string) *jsonschema.Schema {
	switch step {
	case "*":
		return s.AdditionalProperties.(*jsonschema.Schema)
	case "[]":
		return s.Items2020
	}
	return s.Properties[step]
}
