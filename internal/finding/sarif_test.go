package finding_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/fencelint/fence/internal/finding"
)

// sources are the files that the findings of the tests are in.
var sources = map[string]string{
	"internal/orders/store.go": strings.Repeat("\n", 40) +
		"\t_, err := db.Exec(\n\t\t`UPDATE orders SET done = true WHERE id = $1`, id,\n\t)\n",
	"internal/orders/run.go": strings.Repeat("\n", 19) + "\tif elector.IsLeader() {\n",
	"wide.go":                "\uFEFFé := \"𝒳\"; x()\r\nnext\n",
}

func readSource(file string) ([]byte, error) {
	text, ok := sources[file]
	if !ok {
		return nil, os.ErrNotExist
	}
	return []byte(text), nil
}

func testRun() finding.Run {
	return finding.Run{
		Version: "v1.2.3",
		Rules: []finding.Rule{{
			ID: "unfencedwrite", Title: "A write does not compare the token",
			Summary: "One paragraph.", Text: "One paragraph.\n\nAnother.", Markdown: "One `paragraph`.\n\nAnother.",
			URL: "https://example.com/unfencedwrite", Severity: finding.Error,
		}},
		Notes: []finding.Note{
			{Message: "example.com/shop/typo does not compile: undefined: missing", Place: finding.Place{File: "typo/typo.go", Line: 3, Column: 10}},
			{Message: "example.com/shop/cmd: not checked: example.com/shop/typo does not compile"},
		},
		Trees: []finding.Tree{{ID: "GOMODCACHE", About: "Downloaded modules.", Dir: "/downloads/mod"}, {ID: "UNKNOWN", About: "Nowhere."}},
		Read:  readSource,
	}
}

func writeSARIF(w io.Writer, fs []finding.Finding) error {
	return finding.WriteSARIF(w, fs, testRun())
}

// sarifLog is what the tests read of a log.
type sarifLog struct {
	Runs []struct {
		Tool struct {
			Driver struct{ Version, SemanticVersion string }
		}
		Invocations []struct{ ExecutionSuccessful bool }
		Results     []sarifResult
	}
}

type sarifResult struct {
	RuleIndex           int
	Message             struct{ Text string }
	Locations           []sarifLocation
	RelatedLocations    []sarifLocation
	PartialFingerprints map[string]string
}

type sarifLocation struct {
	PhysicalLocation struct {
		ArtifactLocation struct{ URI, URIBaseID string }
		Region           sarifRegion
	}
}

type sarifRegion struct{ StartLine, StartColumn, EndLine, EndColumn int }

// logOf writes a log, compares it with the schema and reads it again.
func logOf(t *testing.T, fs []finding.Finding, run finding.Run) sarifLog {
	t.Helper()
	var out bytes.Buffer
	if err := finding.WriteSARIF(&out, fs, run); err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(out.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	schema, err := c.Compile(filepath.Join("testdata", "sarif-2.1.0", "sarif-schema-2.1.0.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(value); err != nil {
		t.Errorf("%v\nin %s", err, &out)
	}
	var log sarifLog
	if err := json.Unmarshal(out.Bytes(), &log); err != nil {
		t.Fatal(err)
	}
	return log
}

func TestSARIFSchema(t *testing.T) {
	for name, fs := range map[string][]finding.Finding{
		"findings": samples(),
		"nothing":  nil,
	} {
		for notes, run := range map[string]finding.Run{
			"a part of":  testRun(),
			"everything": {Version: "(devel)", Read: readSource},
		} {
			r := logOf(t, fs, run).Runs[0]
			if r.Results == nil {
				t.Errorf("%s in %s: no list of results says that nothing was checked", name, notes)
			}
			if got, want := r.Invocations[0].ExecutionSuccessful, len(run.Notes) == 0; got != want {
				t.Errorf("%s in %s: successful is %t, want %t", name, notes, got, want)
			}
		}
	}
}

func TestSARIFVersion(t *testing.T) {
	for version, want := range map[string]string{
		"v1.2.3": "1.2.3",
		"v0.0.0-20261012131415-0123456789ab+dirty": "0.0.0-20261012131415-0123456789ab+dirty",
		"(devel)": "",
	} {
		driver := logOf(t, nil, finding.Run{Version: version}).Runs[0].Tool.Driver
		if driver.Version != version || driver.SemanticVersion != want {
			t.Errorf("%s: version %q, semantic version %q, want %q", version, driver.Version, driver.SemanticVersion, want)
		}
	}
}

// A code without a rule is printed; no rule is made up for it.
func TestSARIFRules(t *testing.T) {
	for i, r := range logOf(t, samples(), testRun()).Runs[0].Results {
		if want := []int{0, -1}[i]; r.RuleIndex != want {
			t.Errorf("result %d: rule %d, want %d", i, r.RuleIndex, want)
		}
	}
}

func TestSARIFURI(t *testing.T) {
	for file, want := range map[string][2]string{
		"a/b.go":                         {"a/b.go", "%SRCROOT%"},
		"a b/100%/c#?.go":                {"a%20b/100%25/c%23%3F.go", "%SRCROOT%"},
		"größe.go":                       {"gr%C3%B6%C3%9Fe.go", "%SRCROOT%"},
		"file:a.go":                      {"./file:a.go", "%SRCROOT%"},
		"../other/a.go":                  {"../other/a.go", "%SRCROOT%"},
		"/downloads/mod/x.org/y@v1/z.go": {"x.org/y@v1/z.go", "GOMODCACHE"},
		"/downloads/modern/z.go":         {"file:///downloads/modern/z.go", ""},
	} {
		f := write()
		f.Location.File = file
		got := logOf(t, []finding.Finding{f}, testRun()).Runs[0].Results[0].Locations[0].PhysicalLocation.ArtifactLocation
		if got.URI != want[0] || got.URIBaseID != want[1] {
			t.Errorf("%s: %s in %q, want %s in %q", file, got.URI, got.URIBaseID, want[0], want[1])
		}
	}
}

func TestSARIFRegion(t *testing.T) {
	type place = finding.Place
	for name, test := range map[string]struct {
		from, to place
		want     sarifRegion
	}{
		"behind a mark and two bytes":  {place{"wide.go", 1, 7}, place{"wide.go", 1, 9}, sarifRegion{1, 3, 1, 5}},
		"behind a surrogate pair":      {place{"wide.go", 1, 18}, place{"wide.go", 1, 21}, sarifRegion{1, 12, 1, 15}},
		"to another line":              {place{"wide.go", 1, 18}, place{"wide.go", 2, 3}, sarifRegion{1, 12, 2, 3}},
		"no end":                       {place{"wide.go", 1, 18}, place{"wide.go", 1, 18}, sarifRegion{1, 12, 1, 15}},
		"an end before the start":      {place{"wide.go", 2, 3}, place{"wide.go", 1, 18}, sarifRegion{2, 3, 2, 5}},
		"an end in another file":       {place{"wide.go", 2, 3}, place{"z.go", 9, 9}, sarifRegion{2, 3, 2, 5}},
		"a column that is not known":   {place{"wide.go", 2, 0}, place{"wide.go", 2, 0}, sarifRegion{2, 0, 2, 0}},
		"a column that is not there":   {place{"wide.go", 2, 6}, place{"wide.go", 2, 6}, sarifRegion{2, 0, 2, 0}},
		"an end that is not there":     {place{"wide.go", 1, 18}, place{"wide.go", 8, 2}, sarifRegion{1, 0, 8, 0}},
		"a line that is not there":     {place{"wide.go", 9, 1}, place{"wide.go", 9, 1}, sarifRegion{9, 0, 9, 0}},
		"a file that is not there":     {place{"gone.go", 4, 5}, place{"gone.go", 6, 7}, sarifRegion{4, 0, 6, 0}},
		"a place that is not a region": {place{File: "wide.go"}, place{File: "wide.go"}, sarifRegion{}},
	} {
		f := write()
		f.Location, f.End = test.from, test.to
		got := logOf(t, []finding.Finding{f}, testRun()).Runs[0].Results[0].Locations[0].PhysicalLocation.Region
		if got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// A related place is linked to from the message; without a file it is a message.
func TestSARIFRelated(t *testing.T) {
	f := write()
	f.Related = []finding.Related{
		{Location: f.Location, End: f.End, Message: `   Get[T] reads a\b here`},
		{Message: "somewhere"},
	}
	r := logOf(t, []finding.Finding{f}, testRun()).Runs[0].Results[0]
	if want := "message\n[Get\\[T\\] reads a\\\\b here](1)\n[somewhere](2)"; r.Message.Text != want {
		t.Errorf("message %q, want %q", r.Message.Text, want)
	}
	if len(r.RelatedLocations) != 2 || r.RelatedLocations[1].PhysicalLocation.ArtifactLocation.URI != "" {
		t.Errorf("related places %v", r.RelatedLocations)
	}
}
