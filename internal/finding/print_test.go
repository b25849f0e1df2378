package finding_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/fencelint/fence/internal/finding"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func samples() []finding.Finding {
	at := func(file string, line, column int) finding.Place {
		return finding.Place{File: file, Line: line, Column: column}
	}
	return []finding.Finding{
		{
			Code: "unfencedwrite", Severity: finding.Error,
			Location: at("internal/orders/store.go", 41, 15), End: at("internal/orders/store.go", 43, 3),
			Message: `orders is updated without "fence <= $token": a paused owner's write lands & wins`,
			Related: []finding.Related{
				{Location: at("internal/orders/run.go", 20, 5), End: at("internal/orders/run.go", 20, 19), Message: "ownership is checked here"},
				{Location: at("internal/orders/store.go", 41, 15), End: at("internal/orders/store.go", 41, 15), Message: "the late write is here"},
			},
			Package: "example.com/shop/internal/orders", Function: "Store.Finish", Statement: "_, err := db.Exec(q)",
		},
		{
			Code: "wallclockexpiry", Severity: finding.Warning,
			Location: at("lease.go", 7, 1), End: at("lease.go", 7, 1),
			Message: "überfällig \u2028 <script>",
		},
	}
}

func TestGolden(t *testing.T) {
	for _, test := range []struct {
		golden string
		print  func(io.Writer, []finding.Finding) error
	}{
		{"findings.txt", func(w io.Writer, fs []finding.Finding) error {
			return finding.WriteText(w, fs, finding.TextOptions{})
		}},
		{"findings_elsewhere.txt", func(w io.Writer, fs []finding.Finding) error {
			return finding.WriteText(w, fs, finding.TextOptions{Path: func(file string) string { return "../" + file }})
		}},
		{"findings.jsonl", finding.WriteJSON},
		{"findings.sarif", writeSARIF},
		{"findings.github", finding.WriteGitHub},
		{"findings.gitlab.json", finding.WriteGitLab},
	} {
		var got bytes.Buffer
		if err := test.print(&got, samples()); err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", test.golden)
		if *update {
			if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s:\n got %s\nwant %s", golden, got.Bytes(), want)
		}
	}
}

func TestJSONRoundTrip(t *testing.T) {
	var out bytes.Buffer
	if err := finding.WriteJSON(&out, samples()); err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSuffix(out.Bytes(), []byte("\n")), []byte("\n"))
	if len(lines) != len(samples()) {
		t.Fatalf("%d lines for %d findings", len(lines), len(samples()))
	}
	for i, line := range lines {
		var f finding.Finding
		if err := json.Unmarshal(line, &f); err != nil {
			t.Fatalf("line %d: %v", i, err)
		}
		if f.Message != samples()[i].Message {
			t.Errorf("line %d: message %q, want %q", i, f.Message, samples()[i].Message)
		}
	}
}

// Lines are for people and pipes: without findings there is none.
func TestPrintNothing(t *testing.T) {
	var out bytes.Buffer
	if err := errors.Join(
		finding.WriteJSON(&out, nil),
		finding.WriteText(&out, nil, finding.TextOptions{}),
		finding.WriteGitHub(&out, nil),
	); err != nil {
		t.Fatal(err)
	}
	if out.Len() > 0 {
		t.Errorf("no findings print %q", out.String())
	}
}

// full is a device that has no room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestWriteError(t *testing.T) {
	for name, write := range map[string]func(io.Writer, []finding.Finding) error{
		"WriteText": func(w io.Writer, fs []finding.Finding) error {
			return finding.WriteText(w, fs, finding.TextOptions{})
		},
		"WriteJSON":   finding.WriteJSON,
		"WriteSARIF":  writeSARIF,
		"WriteGitHub": finding.WriteGitHub,
		"WriteGitLab": finding.WriteGitLab,
	} {
		if write(full{}, samples()) == nil {
			t.Errorf("%s hides that nothing was written", name)
		}
	}
}
