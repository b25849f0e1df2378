package main

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/fencelint/fence/analyzers/driver"
	"github.com/fencelint/fence/internal/finding"
)

func TestVerdict(t *testing.T) {
	var (
		failing = finding.Finding{Severity: finding.Error}
		warning = finding.Finding{Severity: finding.Warning}
		broken  = []driver.Broken{{Package: "p"}}
		without = []driver.NotChecked{{Package: "q", Import: "p"}}
		crashed = []driver.Failure{{Package: "p"}}
	)
	for _, test := range []struct {
		name   string
		result driver.Result
		fail   finding.Severity
		want   int
	}{
		{"nothing", driver.Result{}, finding.Error, exitOK},
		{"warning", driver.Result{Findings: []finding.Finding{warning}}, finding.Error, exitOK},
		{"warning that counts", driver.Result{Findings: []finding.Finding{warning}}, finding.Warning, exitFindings},
		{"error", driver.Result{Findings: []finding.Finding{warning, failing}}, finding.Error, exitFindings},
		{"error when warnings count", driver.Result{Findings: []finding.Finding{failing}}, finding.Warning, exitFindings},
		{"broken", driver.Result{Broken: broken, Findings: []finding.Finding{failing}}, finding.Error, exitNotLoaded},
		{"not checked", driver.Result{NotChecked: without}, finding.Error, exitNotLoaded},
		{"crashed", driver.Result{Failures: crashed}, finding.Error, exitNotLoaded},
	} {
		if got := exitStatus(verdict(&test.result, test.fail)); got != test.want {
			t.Errorf("%s: exit status %d, want %d", test.name, got, test.want)
		}
	}
}

func TestExitStatus(t *testing.T) {
	for _, test := range []struct {
		err  error
		want int
	}{
		{nil, exitOK},
		{errNoVerb, exitUsage},
		{fmt.Errorf("wrapped: %w", &driver.UsageError{}), exitUsage},
		{fmt.Errorf("wrapped: %w", &driver.LoadError{}), exitNotLoaded},
		{errors.New("standard output is full"), exitUsage},
	} {
		if got := exitStatus(test.err); got != test.want {
			t.Errorf("%v: exit status %d, want %d", test.err, got, test.want)
		}
	}
}

func TestSummary(t *testing.T) {
	r := &driver.Result{Packages: 212, Findings: make([]finding.Finding, 3)}
	if got, want := summary(r, 1440*time.Millisecond), "3 findings in 212 packages, 1.4s"; got != want {
		t.Errorf("summary %q, want %q", got, want)
	}
	r = &driver.Result{Packages: 1, Findings: make([]finding.Finding, 1)}
	if got, want := summary(r, 0), "1 finding in 1 package, 0.0s"; got != want {
		t.Errorf("summary %q, want %q", got, want)
	}
}
