package plugin

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// documents are settings, and whether they are right.
var documents = map[string]bool{
	"{}":                                     true,
	"config: fence.yaml":                     true,
	"config: ''":                             false,
	"config: ' '":                            false,
	"config: [fence.yaml]":                   false,
	"config: 1":                              false,
	"policy: {}":                             true,
	"policy: {strict: true}":                 true,
	"policy: {strict: 1}":                    false,
	"policy: {leases: {chekcs: []}}":         false,
	"policy: 'strict: true'":                 true,
	"policy: {tables: {a: {fence: f}}}":      true,
	"policy: {tables: {a: {guard: none}}}":   false,
	"policy: []":                             false,
	"policy: true":                           false,
	"policy: {strict: true}\nconfig: a.yaml": false,
	"checks: []":                             true,
	"checks: [default, -wallclockexpiry]":    true,
	"checks: all":                            false,
	"checks: [1]":                            false,
	"checks: ['']":                           false,
	"checks: ['all,-checkthenwrite']":        false,
	"checks: {all: true}":                    false,
	"strict: true":                           true,
	"strict: yes please":                     false,
	"strict: 1":                              false,
	"stirct: true":                           false,
	"tables: {a: {fence: f}}":                false,
}

// notInSchema are the documents whose fault a JSON Schema does not see.
var notInSchema = []string{"policy: {tables: {a: {guard: none}}}"}

func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	for _, name := range []string{"fence.schema.json", "golangci.schema.json"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(data)))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AddResource("https://raw.githubusercontent.com/fencelint/fence/main/docs/"+name, doc); err != nil {
			t.Fatal(err)
		}
	}
	s, err := c.Compile("https://raw.githubusercontent.com/fencelint/fence/main/docs/golangci.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSchemaAgreesWithDecode(t *testing.T) {
	s := compileSchema(t)
	for doc, want := range documents {
		var value any
		if err := yaml.Unmarshal([]byte(doc), &value); err != nil {
			t.Fatal(err)
		}
		_, err := decode(value, t.TempDir())
		if (err == nil) != want {
			t.Errorf("%s: decode says %v", doc, err)
		}
		if err != nil && !strings.Contains(err.Error(), "linters.settings.custom.fence.settings") {
			t.Errorf("%s: %v does not say where", doc, err)
		}
		if err := s.Validate(value); (err == nil) != (want || slices.Contains(notInSchema, doc)) {
			t.Errorf("%s: the schema says %v", doc, err)
		}
	}
	known := slices.Sorted(strings.SplitSeq(keyNames(), ", "))
	if described := slices.Sorted(maps.Keys(s.Properties)); !slices.Equal(described, known) {
		t.Errorf("decode knows %v, the schema %v", known, described)
	}
}

func TestNoSettings(t *testing.T) {
	s, err := decode(nil, t.TempDir())
	if err != nil || s.spec() != "default" || s.config != "" || s.policy != nil {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := decode([]any{"checks"}, t.TempDir()); err == nil || !strings.Contains(err.Error(), "want a mapping") {
		t.Error(err)
	}
}

// The name of one analyzer changes with what the checks read.
func TestDigestIsAName(t *testing.T) {
	dir := t.TempDir()
	names := func(conf any) string {
		t.Helper()
		p, err := build(conf, dir)
		if err != nil {
			t.Fatal(err)
		}
		list, err := p.BuildAnalyzers()
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, a := range list {
			all = append(all, a.Name)
		}
		return strings.Join(all, " ")
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOWORK", "off")
	write("go.mod", "module example.com/m\n\ngo 1.26\n")
	write("a.sql", "CREATE TABLE a (id int);\n")
	write("b.yaml", "schema: [a.sql]\n")
	seen := []string{names(nil), names(map[string]any{"config": "b.yaml"}), names(map[string]any{"policy": map[string]any{"schema": []any{"a.sql"}}})}
	write("a.sql", "CREATE TABLE a (id bigint);\n")
	write("fence.yaml", "schema: [a.sql]\n")
	seen = append(seen, names(nil), names(map[string]any{"config": "b.yaml"}), names(map[string]any{"policy": map[string]any{"schema": []any{"a.sql"}}}))
	if slices.Sort(seen); len(slices.Compact(seen)) != 6 {
		t.Errorf("names repeat: %q", seen)
	}
	if !strings.Contains(seen[0], "checkthenwrite") || !strings.Contains(seen[0], "fenceinputs_") {
		t.Errorf("the analyzers are %s", seen[0])
	}
}

func TestLoadMode(t *testing.T) {
	p, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	if p.GetLoadMode() != "typesinfo" {
		t.Error(p.GetLoadMode())
	}
}
