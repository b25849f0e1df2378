package gen_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fencelint/fence/gen"
)

// TestInRepository finds every fence.yaml of this repository that generates, and what it
// generates as it would be now.
func TestInRepository(t *testing.T) {
	found := 0
	for _, dir := range []string{"../testdata/demo", "../fencedb/storetest"} {
		err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
			if err != nil || filepath.Base(path) != "fence.yaml" {
				return err
			}
			found++
			r, err := gen.Load(path, "")
			if err != nil {
				return err
			}
			changes, err := r.Changes()
			for _, c := range changes {
				t.Errorf("%s is not as %s generates it: fence gen --config %s", c.Path, path, path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	if found < 4 {
		t.Errorf("only %d were found", found)
	}
}

// manyTables writes a fence.yaml and a schema of n tables, half of them with a fence.
func manyTables(t testing.TB, n int) string {
	t.Helper()
	var sql, yaml strings.Builder
	yaml.WriteString("version: 1\ndialect: postgres\nschema: [schema.sql]\ngenerate: {package: many, dir: many}\ntables:\n")
	for i := range n {
		fmt.Fprintf(&sql, `CREATE TABLE table_%d (
	id bigint PRIMARY KEY,
	region text NOT NULL,
	status text NOT NULL DEFAULT 'new',
	note text,
	total numeric(12, 2),
	created timestamptz NOT NULL DEFAULT now(),
	payload jsonb,
	tags text[],
	fence bigint NOT NULL DEFAULT 0
);
`, i)
		if i%2 == 0 {
			fmt.Fprintf(&yaml, "  table_%d: {fence: fence}\n", i)
		} else {
			fmt.Fprintf(&yaml, "  table_%d: {guard: fence_guards, resource: \"r:{region}\"}\n", i)
		}
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"fence.yaml": yaml.String(), "schema.sql": sql.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "fence.yaml")
}

// BenchmarkGen is the work of fence gen, and of --check on what it has written, for a
// thousand tables.
func BenchmarkGen(b *testing.B) {
	path := manyTables(b, 1000)
	b.Run("write", func(b *testing.B) {
		for range b.N {
			b.StopTimer()
			if err := os.RemoveAll(filepath.Join(filepath.Dir(path), "many")); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
			r, err := gen.Load(path, "")
			if err != nil {
				b.Fatal(err)
			}
			if changes, err := r.Write(); err != nil || len(changes) < 1000 {
				b.Fatal(len(changes), err)
			}
		}
	})
	b.Run("check", func(b *testing.B) {
		for range b.N {
			r, err := gen.Load(path, "")
			if err != nil {
				b.Fatal(err)
			}
			if changes, err := r.Changes(); err != nil || len(changes) > 0 {
				b.Fatal(len(changes), err)
			}
		}
	})
}

// The same input gives the same bytes, whatever surrounds it.
func TestSameBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a hundred processes")
	}
	path := manyTables(t, 8)
	fence := filepath.Join(t.TempDir(), "fence")
	if out, err := exec.Command("go", "build", "-o", fence, "../cmd/fence").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var first []byte
	for run := range 100 {
		dir := filepath.Join(t.TempDir(), fmt.Sprintf("über %d", run))
		if err := os.CopyFS(dir, os.DirFS(filepath.Dir(path))); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("sh", "-c", fmt.Sprintf("umask %s; exec %s gen", []string{"022", "077", "002"}[run%3], fence))
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOMAXPROCS="+[]string{"1", "2"}[run%2], "LC_ALL="+[]string{"C", "C.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8"}[run%4], "TZ="+[]string{"UTC", "Asia/Kathmandu"}[run%2])
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		all := contents(t, filepath.Join(dir, "many"))
		if run == 0 {
			first = all
		}
		if !bytes.Equal(all, first) {
			t.Fatalf("run %d wrote something else", run)
		}
	}
}

// contents are the names and bytes of all files of a directory.
func contents(t *testing.T, dir string) []byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) == 0 {
		t.Fatal(entries, err)
	}
	var b bytes.Buffer
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %d\n%s", e.Name(), len(data), data)
	}
	return b.Bytes()
}
