package main

import (
	"errors"

	"github.com/fencelint/fence/analyzers/driver"
	"github.com/fencelint/fence/internal/finding"
)

// The exit statuses. Of several that apply, the one that is listed first wins.
const (
	exitUsage     = 2 // the command line or fence.yaml has to change; also whatever has no status of its own
	exitNotLoaded = 3 // a package does not load, or could not be checked
	exitFindings  = 1 // findings that count
	exitOK        = 0
)

// Errors that have been printed when they are returned.
var (
	errNoVerb     = errors.New("no verb")
	errIncomplete = errors.New("not everything was checked")
	errFindings   = errors.New("there are findings")
)

// reported tells whether the user has been told about err already.
func reported(err error) bool {
	return errors.Is(err, errNoVerb) || errors.Is(err, errIncomplete) || errors.Is(err, errFindings)
}

// exitStatus is the exit status for what a verb returned.
func exitStatus(err error) int {
	var load *driver.LoadError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errFindings):
		return exitFindings
	case errors.Is(err, errIncomplete), errors.As(err, &load):
		return exitNotLoaded
	}
	return exitUsage
}

// verdict is the error a finished check returns: what keeps it from passing.
func verdict(r *driver.Result, fail finding.Severity) error {
	if len(r.Broken)+len(r.NotChecked)+len(r.Failures) > 0 {
		return errIncomplete
	}
	for _, f := range r.Findings {
		if f.Severity == finding.Error || f.Severity == fail {
			return errFindings
		}
	}
	return nil
}
