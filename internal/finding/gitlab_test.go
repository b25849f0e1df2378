package finding_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/fencelint/fence/internal/finding"
)

// Of findings that share a fingerprint a code host shows one.
func TestFingerprintsAreUnique(t *testing.T) {
	var fs []finding.Finding
	for range 3 {
		for _, resource := range []string{"orders", "items"} {
			for line := range 4 {
				f := write()
				f.Resource, f.Location.Line = resource, line+1
				fs = append(fs, f)
			}
		}
	}
	finding.Number(fs)

	var out bytes.Buffer
	if err := finding.WriteGitLab(&out, fs); err != nil {
		t.Fatal(err)
	}
	var issues []struct{ Fingerprint string }
	if err := json.Unmarshal(out.Bytes(), &issues); err != nil {
		t.Fatal(err)
	}
	gitLab, sarif := make(map[string]bool), make(map[string]bool)
	for _, issue := range issues {
		gitLab[issue.Fingerprint] = true
	}
	for _, r := range logOf(t, fs, testRun()).Runs[0].Results {
		sarif[r.PartialFingerprints["fence/v1"]] = true
	}
	if len(gitLab) != len(fs) || len(sarif) != len(fs) {
		t.Errorf("%d findings have %d fingerprints for GitLab and %d in SARIF", len(fs), len(gitLab), len(sarif))
	}
}

func TestGitLabNothing(t *testing.T) {
	var out bytes.Buffer
	if err := finding.WriteGitLab(&out, nil); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "[]\n" {
		t.Errorf("no findings print %q, which is no report", got)
	}
}

func TestRename(t *testing.T) {
	fs := samples()
	finding.Number(fs)
	renamed := finding.Rename(fs, func(file string) string { return "sub/" + file })
	for i, f := range renamed {
		old := fs[i]
		if f.Location.File != "sub/"+old.Location.File || f.End.File != "sub/"+old.End.File {
			t.Errorf("finding %d is at %v to %v", i, f.Location, f.End)
		}
		if f.ID() != old.ID() {
			t.Errorf("finding %d became another one", i)
		}
		for j, r := range f.Related {
			if want := "sub/" + samples()[i].Related[j].Location.File; r.Location.File != want || r.End.File != want {
				t.Errorf("finding %d, related %d is at %v to %v", i, j, r.Location, r.End)
			}
		}
		if len(old.Related) > 0 && old.Related[0].Location != samples()[i].Related[0].Location {
			t.Errorf("Rename changed what it was given")
		}
	}
}
