package inputs_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/fencelint/fence/analyzers/internal/inputs"
)

func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func find(t *testing.T, dir string) inputs.Inputs {
	t.Helper()
	in, err := inputs.Find(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// tree is a workspace of two modules, with one beside them.
var tree = map[string]string{
	"go.work":                  "go 1.26\n\nuse (\n\t./a\n\t./b\n)\n",
	"a/go.mod":                 "module example.com/a\n\ngo 1.26\n",
	"a/sub/fence.yaml":         "schema: [db, ../one.sql]\n",
	"a/sub/db/x.sql":           "CREATE TABLE x (id int);\n",
	"a/one.sql":                "CREATE TABLE one (id int);\n",
	"a/migrations/1_a.up.sql":  "CREATE TABLE a (id int);\n",
	"a/vendor/v/fence.yaml":    "version: 1\n",
	"b/go.mod":                 "module example.com/b\n\ngo 1.26\n",
	"b/fence.yaml":             "version: 1\n",
	"other/go.mod":             "module example.com/other\n",
	"other/fence.yaml":         "version: 1\n",
	"a/tools/go.mod":           "module example.com/tools\n",
	"a/tools/fence.yaml":       "version: 1\n",
	"a/sub/db/notes/unread.md": "",
}

func TestFind(t *testing.T) {
	t.Setenv("GOWORK", "")
	root := t.TempDir()
	write(t, root, tree)
	in := find(t, filepath.Join(root, "b"))
	want := []string{filepath.Join(root, "a", "sub", "fence.yaml"), filepath.Join(root, "b", "fence.yaml")}
	if len(in.Configs) != 2 || in.Configs[0] != want[0] || in.Configs[1] != want[1] {
		t.Errorf("found %q, want %q", in.Configs, want)
	}
	if in.Digest == "" || in.Digest != find(t, filepath.Join(root, "a", "sub")).Digest {
		t.Error("the digest depends on the directory of the workspace that the run starts in")
	}
}

// The same tree has the same digest wherever it lies.
func TestDigestNamesNoDirectory(t *testing.T) {
	t.Setenv("GOWORK", "")
	one, two := t.TempDir(), t.TempDir()
	write(t, one, tree)
	write(t, two, tree)
	if find(t, filepath.Join(one, "a")).Digest != find(t, filepath.Join(two, "a")).Digest {
		t.Error("two checkouts have two digests")
	}
	if inputs.Of(filepath.Join(one, "a/sub/fence.yaml")) != inputs.Of(filepath.Join(two, "a/sub/fence.yaml")) {
		t.Error("two checkouts of one file have two digests")
	}
}

func TestDigestChanges(t *testing.T) {
	t.Setenv("GOWORK", "")
	for name, c := range map[string]struct {
		file, text string
		want       bool
	}{
		"a fence.yaml":                {"a/sub/fence.yaml", "schema: [db]\n", true},
		"one that is not YAML":        {"a/sub/fence.yaml", "{\n", true},
		"one that is new":             {"a/fence.yaml", "version: 1\n", true},
		"one by the wrong name":       {"a/fence.yml", "version: 1\n", true},
		"a schema":                    {"a/one.sql", "", true},
		"a schema in a directory":     {"a/sub/db/x.sql", "", true},
		"a new file there":            {"a/sub/db/y.SQL", "", true},
		"a migration":                 {"a/migrations/1_a.up.sql", "", true},
		"what is no schema":           {"a/sub/db/notes/unread.md", "new", false},
		"Go source":                   {"a/a.go", "package a\n", false},
		"the module that is not here": {"other/fence.yaml", "strict: true\n", false},
		"a nested module":             {"a/tools/fence.yaml", "strict: true\n", false},
		"vendored code":               {"a/vendor/v/fence.yaml", "strict: true\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			write(t, root, tree)
			before := find(t, filepath.Join(root, "a")).Digest
			write(t, root, map[string]string{c.file: c.text})
			if after := find(t, filepath.Join(root, "a")).Digest; (before != after) != c.want {
				t.Errorf("changed: %t, want %t", before != after, c.want)
			}
		})
	}
}

func TestOf(t *testing.T) {
	root := t.TempDir()
	write(t, root, tree)
	file := filepath.Join(root, "a", "sub", "fence.yaml")
	before := inputs.Of(file)
	write(t, root, map[string]string{"a/migrations/1_a.up.sql": ""})
	if inputs.Of(file) != before {
		t.Error("a file that it does not name counts")
	}
	write(t, root, map[string]string{"a/one.sql": ""})
	if inputs.Of(file) == before {
		t.Error("a schema does not count")
	}
}

func TestOutsideModules(t *testing.T) {
	t.Setenv("GOWORK", "off")
	if in := find(t, t.TempDir()); len(in.Configs) > 0 {
		t.Errorf("found %q", in.Configs)
	}
}
