package plan_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/fencelint/fence/gen/plan"
	"github.com/fencelint/fence/internal/config"
	"github.com/fencelint/fence/internal/schema"
)

var update = flag.Bool("update", false, "rewrite the wants of testdata")

// TestMake plans each file of testdata: NAME.yaml with NAME.sql (default schema.sql) has
// NAME.want: the statements of each table, or the errors.
func TestMake(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { testFile(t, file) })
	}
}

func testFile(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	texts := map[string]string{}
	for _, f := range archive.Files {
		texts[f.Name] = string(f.Data)
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cases := 0
	for i, f := range archive.Files {
		name, ok := strings.CutSuffix(f.Name, ".yaml")
		if !ok {
			continue
		}
		cases++
		sql := name + ".sql"
		if _, ok := texts[sql]; !ok {
			sql = "schema.sql"
		}
		got := made(t, dir, f.Name, sql)
		if got == texts[name+".want"] {
			continue
		}
		if *update {
			setFile(archive, i, name+".want", got)
			continue
		}
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, texts[name+".want"])
	}
	if cases == 0 {
		t.Error("no NAME.yaml")
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(archive), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func setFile(a *txtar.Archive, after int, name, text string) {
	for i, f := range a.Files {
		if f.Name == name {
			a.Files[i].Data = []byte(text)
			return
		}
	}
	a.Files = append(a.Files[:after+1], append([]txtar.File{{Name: name, Data: []byte(text)}}, a.Files[after+1:]...)...)
}

// made is what becomes of a fence.yaml.
func made(t *testing.T, dir, yaml, sql string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, yaml))
	if err != nil {
		t.Fatal(err)
	}
	c, err := config.Parse("fence.yaml", data)
	if err != nil {
		return errorText(dir, err)
	}
	s, err := schema.Load([]string{filepath.Join(dir, sql)}, c.Dialect)
	if err != nil {
		return errorText(dir, err)
	}
	p, err := plan.Make(c, s)
	if err != nil {
		if p != nil {
			t.Error("a plan beside an error")
		}
		var all config.Errors
		if !errors.As(err, &all) {
			t.Errorf("%T is no config.Errors", err)
		}
		return errorText(dir, err)
	}
	if strings.HasPrefix(yaml, "go_") {
		return goTypes(p)
	}
	var b strings.Builder
	for i, table := range p.Tables {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(table.Explain())
	}
	return b.String()
}

// goTypes shows the Go types of a plan: those of its columns, and its enums.
func goTypes(p *plan.Package) string {
	var b strings.Builder
	for _, table := range p.Tables {
		for _, c := range table.Columns {
			fmt.Fprintf(&b, "%s.%s %s\n", table.Name, c.Name, strings.Join(strings.Fields(c.Type.Import+" "+c.Type.Name+" "+string(c.Type.Bind)), " "))
		}
	}
	for _, e := range p.Enums {
		fmt.Fprintf(&b, "enum %s %s %q\n", e.Name, e.GoName, e.Labels)
	}
	return b.String()
}

func errorText(dir string, err error) string {
	return strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), "") + "\n"
}
