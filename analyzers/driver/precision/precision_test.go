package main

import (
	"bytes"
	"math"
	"os"
	"strings"
	"testing"
)

// The page is what the labels say.
func TestPage(t *testing.T) {
	var got bytes.Buffer
	if err := page(&got, "../../../testdata/field"); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("../../../docs/precision.md")
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Error("docs/precision.md is not what the labels say: run go run ./analyzers/driver/precision testdata/field > docs/precision.md")
	}
}

func TestWilson(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{
		{27, 30, 0.744, 0.965},
		{30, 30, 0.886, 1},
		{0, 30, 0, 0.114},
	} {
		low, high := wilson(c.k, c.n)
		if math.Abs(low-c.low) > 0.001 || math.Abs(high-c.high) > 0.001 {
			t.Errorf("wilson(%d, %d) = %.3f, %.3f; want %.3f, %.3f", c.k, c.n, low, high, c.low, c.high)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for _, in := range []string{
		`{"module":"m","check":"c","verdict":"maybe","reason":"r"}`,
		`{"module":"m","check":"c","verdict":"true"}`,
		`{"modul":"m"}`,
		`not json`,
	} {
		if _, err := readLabels(strings.NewReader(in)); err == nil {
			t.Errorf("%s is accepted", in)
		}
	}
}

func TestReadWritesRefuses(t *testing.T) {
	for _, in := range []string{
		`{"module":"m","listed":2,"fenced":1}`,
		`{"listed":0}`,
	} {
		if _, err := readWrites(strings.NewReader(in)); err == nil {
			t.Errorf("%s is accepted", in)
		}
	}
}
