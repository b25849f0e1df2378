package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree writes files below a new directory.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFind(t *testing.T) {
	dir := tree(t, map[string]string{
		"fence.yaml": "", "a/b/fence.yaml": "", "a/b/c/x.go": "", "a/d/x.go": "", "e/fence.yml": "",
		"f/fence.yaml/x": "", "../outside/x": "",
	})
	for _, test := range []struct{ from, root, want string }{
		{".", ".", "fence.yaml"},
		{"a", ".", "fence.yaml"},
		{"a/b", ".", "a/b/fence.yaml"},
		{"a/b/c", ".", "a/b/fence.yaml"},
		{"a/d", ".", "fence.yaml"},
		{"a/d", "a", ""},
		{"f", ".", "fence.yaml"}, // a directory of that name is not the file
	} {
		path, ok, err := Find(filepath.Join(dir, test.from), filepath.Join(dir, test.root))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if ok {
			got, _ = filepath.Rel(dir, path)
		}
		if filepath.ToSlash(got) != test.want {
			t.Errorf("Find(%s, %s) = %q, want %q", test.from, test.root, got, test.want)
		}
	}
	if _, _, err := Find(filepath.Join(dir, "e"), dir); err == nil || !strings.Contains(err.Error(), "rename it") {
		t.Errorf("fence.yml: %v", err)
	}
	if _, _, err := Find(filepath.Dir(dir), dir); err == nil || !strings.Contains(err.Error(), "not inside") {
		t.Errorf("outside: %v", err)
	}
}

func TestFindThroughSymlink(t *testing.T) {
	dir := tree(t, map[string]string{"real/fence.yaml": "", "real/sub/x.go": ""})
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "real"), link); err != nil {
		t.Skipf("this needs symbolic links: run it where the temporary directory allows them: %v", err)
	}
	_, ok, err := Find(filepath.Join(dir, "real", "sub"), link)
	if !ok || err != nil {
		t.Errorf("ok %t, %v", ok, err)
	}
}

func TestLoad(t *testing.T) {
	dir := tree(t, map[string]string{
		"fence.yaml":    "schema: [db/schema.sql, db]\n",
		"db/schema.sql": "",
		"bad.yaml":      "schema: [db/shema.sql, other]\n",
	})
	c, err := Load(filepath.Join(dir, "fence.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Dir() != dir || len(c.SchemaPaths()) != 2 || c.SchemaPaths()[0] != filepath.Join(dir, "db", "schema.sql") {
		t.Errorf("Dir %q, SchemaPaths %q", c.Dir(), c.SchemaPaths())
	}
	other, err := Parse("x", []byte("schema: [db/schema.sql, db]\n"))
	if err != nil || c.Digest() != other.Digest() || len(c.Digest()) != 64 {
		t.Errorf("Digest %q, %q, %v", c.Digest(), other.Digest(), err)
	}
	_, err = Load(filepath.Join(dir, "bad.yaml"))
	want := `:1:10: schema "db/shema.sql" does not exist: did you mean "schema.sql"?` + "\n"
	if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `:1:24: schema "other" does not exist`) {
		t.Errorf("missing schema: %v", err)
	}
	if _, err := Load(filepath.Join(dir, "none.yaml")); !os.IsNotExist(unwrapAll(err)) {
		t.Errorf("missing file: %v", err)
	}
	zero := new(Config)
	if zero.Dir() != "" || zero.Digest() != "" || zero.SchemaPaths() != nil {
		t.Error("the zero Config is not empty")
	}
}

func unwrapAll(err error) error {
	for {
		u, ok := err.(interface{ Unwrap() error })
		if !ok || os.IsNotExist(err) {
			return err
		}
		err = u.Unwrap()
	}
}

func TestExcludes(t *testing.T) {
	c, err := Parse(FileName, []byte(`exclude: ["internal/legacy/**", "gen", "**/*.pb.go", "a/*/x.go"]`))
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]bool{
		"internal/legacy/a.go": true, "internal/legacy/deep/b.go": true, "internal/legacyx/a.go": false,
		"gen/a.go": true, "x/gen/a.go": false, "a.pb.go": true, "x/y/a.pb.go": true, "a.go": false,
		"a/b/x.go": true, "a/b/c/x.go": false,
	} {
		if got := c.Excludes(file); got != want {
			t.Errorf("Excludes(%s) = %t", file, got)
		}
	}
}

func TestMatchesPackage(t *testing.T) {
	for _, test := range []struct {
		pattern, path string
		want          bool
	}{
		{"a.b/c", "a.b/c", true}, {"a.b/c", "a.b/c/d", false}, {"a.b/c/...", "a.b/c", true},
		{"a.b/c/...", "a.b/c/d", true}, {"a.b/c/...", "a.b/cd", false},
	} {
		if got := (Name{Text: test.pattern}).MatchesPackage(test.path); got != test.want {
			t.Errorf("%s matches %s: %t", test.pattern, test.path, got)
		}
	}
}
