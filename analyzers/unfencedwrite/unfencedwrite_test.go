package unfencedwrite_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/fencelint/fence/analyzers/internal/engine"
	"github.com/fencelint/fence/analyzers/internal/irtest"
	"github.com/fencelint/fence/analyzers/unfencedwrite"
)

// files are comments at the start of a case that are written to disk beside it:
// "/* schema.sql" or "/* fence.yaml" and their content.
var files = regexp.MustCompile(`(?s)/\* (schema\.sql|fence\.yaml)\n(.*?)\*/\n`)

// The files of testdata/*.txtar are programs of their own: what is reported is
// said in their want comments, and nothing else is.
func Test(t *testing.T) {
	for _, file := range []string{"testdata/flagged.txtar", "testdata/quiet.txtar"} {
		for _, c := range irtest.Cases(t, file) {
			t.Run(c.Name, func(t *testing.T) {
				dir := t.TempDir()
				write(t, dir, "go.mod", "module example.com\n\ngo 1.26\n")
				for _, m := range files.FindAllStringSubmatch(c.Text, -1) {
					write(t, dir, m[1], m[2])
				}
				pkgs := irtest.Load(t, dir, "package p\n"+files.ReplaceAllString(c.Text, ""))
				g := irtest.Analyze(t, unfencedwrite.New(engine.New(engine.Options{})), pkgs)
				irtest.Check(t, g, pkgs)
				if n := len(irtest.Findings(g)); (n == 0) != (file == "testdata/quiet.txtar") {
					t.Errorf("%d findings in %s", n, file)
				}
			})
		}
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
