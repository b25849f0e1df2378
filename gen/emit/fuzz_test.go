package emit_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/fencelint/fence/gen/emit"
	"github.com/fencelint/fence/gen/plan"
	"github.com/fencelint/fence/internal/config"
	"github.com/fencelint/fence/internal/schema"
)

// FuzzFiles: whatever can be planned can be printed, as Go that parses and twice the same.
func FuzzFiles(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("..", "plan", "testdata", "*.txtar"))
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, path := range files {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		texts := map[string]string{}
		for _, file := range archive.Files {
			texts[file.Name] = string(file.Data)
		}
		for name, yaml := range texts {
			if base, ok := strings.CutSuffix(name, ".yaml"); ok {
				f.Add(yaml, texts[base+".sql"])
				f.Add(yaml+"\ngenerate: {package: p, dir: d, tests: true, schema: runtime}\n", texts[base+".sql"])
			}
		}
	}
	f.Fuzz(func(t *testing.T, yaml, sql string) {
		c, err := config.Parse("fence.yaml", []byte(yaml))
		if err != nil {
			return
		}
		path := filepath.Join(t.TempDir(), "schema.sql")
		if err := os.WriteFile(path, []byte(sql), 0o666); err != nil {
			t.Fatal(err)
		}
		s, err := schema.Load([]string{path}, c.Dialect)
		if err != nil {
			return
		}
		p, err := plan.Make(c, s)
		if err != nil {
			return
		}
		if p.Name == "" {
			p.Name = "p" // the command asks for one
		}
		first, err := emit.Files(p)
		if err != nil {
			t.Fatalf("planned, and not printed: %v", err)
		}
		second, err := emit.Files(p)
		if err != nil {
			t.Fatal(err)
		}
		for i := range first {
			if first[i].Name != second[i].Name || string(first[i].Data) != string(second[i].Data) {
				t.Fatalf("%s differs from run to run", first[i].Name)
			}
		}
	})
}
