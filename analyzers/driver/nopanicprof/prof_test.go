package main

import (
	"os"
	"runtime/pprof"
	"strings"
	"testing"
	"time"
	"bytes"
)

func TestProf(t *testing.T) {
	tr, err := newTree()
	if err != nil { t.Fatal(err) }
	f, _ := os.Create("/tmp/prof.out")
	pprof.StartCPUProfile(f)
	var b bytes.Buffer
	obey(tr, strings.NewReader(os.Getenv("PROF_DIR")), &b, 1, 300*time.Second)
	pprof.StopCPUProfile()
	f.Close()
	t.Log(b.String())
}
