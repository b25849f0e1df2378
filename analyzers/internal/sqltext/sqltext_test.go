package sqltext_test

import (
	"fmt"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fencelint/fence/analyzers/internal/irtest"
	"github.com/fencelint/fence/analyzers/internal/sqltext"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// texts returns the texts of the one probe in src, with a hole shown as ◌.
func texts(t *testing.T, src string) []string {
	t.Helper()
	p := irtest.SSA(t, src)
	out := sqltext.New(p).Texts(irtest.Probe(t, p))
	for i, s := range out {
		out[i] = strings.ReplaceAll(s, sqlstmt.Hole, "◌")
	}
	return out
}

// testdata/texts.txtar: "-- name: text | text --" and the code.
func TestTexts(t *testing.T) {
	for _, c := range irtest.Cases(t, "testdata/texts.txtar") {
		t.Run(c.Name, func(t *testing.T) {
			got := strings.Join(texts(t, "package p\n"+c.Text), " | ")
			if got != c.Want {
				t.Errorf("got  %s\nwant %s", got, c.Want)
			}
		})
	}
}

// 8 variables with two values each are 256 texts: more than MaxTexts is a hole.
func TestTooMany(t *testing.T) {
	var b strings.Builder
	b.WriteString("package p\nfunc f(c [8]bool) {\n\tq := \"\"\n")
	for i := range 8 {
		fmt.Fprintf(&b, "\tif c[%d] { q += \"a%d\" } else { q += \"b%d\" }\n", i, i, i)
	}
	b.WriteString("\tprobe(q)\n}\n")
	for _, s := range texts(t, b.String()) {
		if !strings.Contains(s, "◌") {
			t.Errorf("%q is said to be known", s)
		}
	}
}

func TestManyCases(t *testing.T) {
	src := func(n int) string {
		var b strings.Builder
		b.WriteString("package p\nfunc f(i int) {\n\tq := \"\"\n\tswitch i {\n")
		for i := range n {
			fmt.Fprintf(&b, "\tcase %d: q = \"t%02d\"\n", i, i)
		}
		b.WriteString("\t}\n\tprobe(q)\n}\n")
		return b.String()
	}
	if got := texts(t, src(sqltext.MaxTexts-1)); len(got) != sqltext.MaxTexts {
		t.Errorf("%d texts, want all %d", len(got), sqltext.MaxTexts)
	}
	if got := texts(t, src(sqltext.MaxTexts)); !slices.Equal(got, []string{"◌"}) {
		t.Errorf("%d texts, want a hole", len(got))
	}
}

func TestTooLong(t *testing.T) {
	long := strings.Repeat("x", sqltext.MaxLen)
	if got := texts(t, "package p\nfunc f() { probe(\""+long+"\") }\n"); got[0] != long {
		t.Errorf("%d bytes are not too many", len(long))
	}
	if got := texts(t, "package p\nfunc f() { probe(\"y"+long+"\") }\n"); !slices.Equal(got, []string{"◌"}) {
		t.Error("a constant that is too long is not a hole")
	}
	if got := texts(t, "package p\nvar v = \"y\"\nfunc f() { probe(v + \""+long+"\") }\n"); !slices.Equal(got, []string{"◌"}) {
		t.Error("a sum that is too long is not a hole")
	}
}

// Code that grows in width or depth ends all the same.
func TestBounds(t *testing.T) {
	var wide, deep strings.Builder
	wide.WriteString("package p\nfunc f(q string) { probe(q) }\nfunc g() {\n")
	deep.WriteString("package p\nfunc f(q string) { probe(q) }\nfunc g() { f0(\"x\") }\n")
	for i := range 100 {
		fmt.Fprintf(&wide, "\tf(\"t%d\")\n", i)
		next := fmt.Sprintf("f%d", i+1)
		if i == 99 {
			next = "f"
		}
		fmt.Fprintf(&deep, "func f%d(q string) { %s(q) }\n", i, next)
	}
	wide.WriteString("}\n")
	for name, src := range map[string]string{"100 callers": wide.String(), "100 functions deep": deep.String()} {
		if got := texts(t, src); !slices.Equal(got, []string{"◌"}) {
			t.Errorf("%s: %q, want a hole", name, got)
		}
	}
}

func TestEmbed(t *testing.T) {
	dir := t.TempDir()
	at := filepath.Join(dir, filepath.FromSlash(irtest.Path))
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"q.sql": "UPDATE t SET a = 1", "long.sql": strings.Repeat("x", sqltext.MaxLen+1)} {
		if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	pkgs := irtest.Load(t, dir, `package p

import "embed"

//go:embed q.sql
var plain string

var (
	//go:embed q.sql
	grouped []byte

	//go:embed "missing.sql"
	missing string
)

//go:embed long.sql
var long string

//go:embed *.sql
var files embed.FS

//go:embed *.sql
var pattern string

//go:embedded q.sql
var other string

func f() {
	probe(plain)
	probe(string(grouped))
	probe(missing)
	probe(long)
	probe(pattern)
	probe(other)
}
`)
	p := irtest.Build(pkgs[0])
	r := sqltext.New(p)
	r.Embedded = sqltext.Embeds(p)
	want := []string{"UPDATE t SET a = 1", "UPDATE t SET a = 1", sqlstmt.Hole, sqlstmt.Hole, sqlstmt.Hole, sqlstmt.Hole}
	for i, v := range irtest.Probes(p) {
		if got := r.Texts(v); !slices.Equal(got, []string{want[i]}) {
			t.Errorf("%d. %q, want %q", i, got, want[i])
		}
	}
}

func TestReturns(t *testing.T) {
	p := irtest.SSA(t, "package p\nimport \"os\"\nfunc f() { probe(os.Getenv(\"X\") + \"!\") }\n")
	r := sqltext.New(p)
	r.Returns = func(f *types.Func) []string {
		if f.FullName() == "os.Getenv" {
			return []string{"a", "b"}
		}
		return nil
	}
	if got := r.Texts(irtest.Probe(t, p)); !slices.Equal(got, []string{"a!", "b!"}) {
		t.Errorf("%q", got)
	}
}
