package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test binary stand in for the reading process: it dies on a
// directory named bad.
func TestMain(m *testing.M) {
	if os.Getenv("NOPANIC_TEST_CHILD") == "" {
		os.Exit(m.Run())
	}
	in, _ := io.ReadAll(os.Stdin)
	enc := json.NewEncoder(os.Stdout)
	for dir := range strings.SplitSeq(string(in), "\n") {
		o := outcome{Dir: dir, Name: dir}
		_ = enc.Encode(o)
		if dir == "bad" {
			fmt.Fprintln(os.Stderr, "fatal error: stack overflow")
			os.Exit(2)
		}
		o.Done = true
		_ = enc.Encode(o)
	}
}

func TestSupervise(t *testing.T) {
	t.Setenv("NOPANIC_TEST_CHILD", "1")
	all, err := supervise([]string{"a", "bad", "c"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range all {
		got = append(got, fmt.Sprintf("%s:%t", o.Name, strings.Contains(o.Failure, "stack overflow")))
	}
	if s := strings.Join(got, " "); s != "a:false bad:true c:false" {
		t.Errorf("got %s", s)
	}
	var out bytes.Buffer
	if err := report(&out, all, 3, time.Second); err == nil {
		t.Errorf("a process that died is no failure:\n%s", &out)
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"src/time/time.go":                              "package time\n\ntype Time struct{}\n",
		"mod/example.com/!m@v1.2.0/old.go":              "package m\n",
		"mod/example.com/!m@v1.10.0/new.go":             "package m\n\nimport \"time\"\n\nvar T time.Time\n",
		"mod/example.com/n@v1.0.0/n.go":                 "package n\n\nimport (\n\t\"example.com/M\"\n\t\"example.com/missing\"\n)\n\nfunc F() { missing.G(m.T, H) }\n",
		"mod/example.com/n@v1.0.0/broken/b.go":          "package b\n\nfunc F( {\n",
		"mod/example.com/n@v1.0.0/testdata/x.go":        "package x\n",
		"mod/cache/download/example.com/q@v1.0.0/no.go": "package no\n",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := readTree(filepath.Join(dir, "src"), filepath.Join(dir, "mod"))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	obey(tree, strings.NewReader(strings.Join(tree.dirs, "\n")), &out, 2, time.Minute)
	got := map[string]outcome{}
	for dec := json.NewDecoder(&out); dec.More(); {
		var o outcome
		if err := dec.Decode(&o); err != nil {
			t.Fatal(err)
		}
		got[o.Name] = o
	}
	if len(got) != len(tree.dirs) {
		t.Errorf("%d of %v were read: %v", len(got), tree.dirs, got)
	}
	for name, sound := range map[string]bool{
		"time": true, "example.com/M@v1.10.0": true, "example.com/n@v1.0.0": false, "example.com/n/broken@v1.0.0": false,
	} {
		o, ok := got[name]
		if !ok || !o.Done || o.Sound != sound || o.Failure != "" && !o.Unbuilt {
			t.Errorf("%s: %+v, want sound %t", name, o, sound)
		}
	}
}

// A panic is the builder's only if none of our code lies between.
func TestInBuilder(t *testing.T) {
	const (
		top   = "goroutine 1 [running]:\nruntime/debug.Stack()\n\t/s.go:1\ngithub.com/fencelint/fence/analyzers/driver/nopanic.read.func1()\n\t/r.go:1\npanic({0x1, 0x2})\n\t/p.go:1\n"
		types = "go/types.(*Named).Obj(0x0)\n\t/n.go:1\n"
		ssa   = "golang.org/x/tools/go/ssa.(*builder).expr(0x1)\n\t/b.go:1\n"
		build = "github.com/fencelint/fence/analyzers/internal/ir.Build(0x1)\n\t/ir.go:1\n"
		ours  = "github.com/fencelint/fence/analyzers/internal/origin.Root(0x1)\n\t/o.go:1\n"
	)
	for _, test := range []struct {
		stack string
		want  bool
	}{
		{top + types + ssa + build + ours, true},
		{top + ours + ssa + build, false},
		{top + types + ours, false},
		{top + types + build, false},
		{top + ssa + ours, false},
	} {
		if got := inBuilder(test.stack); got != test.want {
			t.Errorf("%t for\n%s", got, test.stack)
		}
	}
}
