package driver

// UsageError is something the caller has to change: a pattern that names
// nothing, a check that does not exist, a configuration that cannot be meant.
type UsageError struct {
	Problem string
	Fix     string // what to do; may be empty
	Err     error  // the cause, if it is an error of its own
}

func (e *UsageError) Error() string { return withFix(e.Problem, e.Fix) }

// Unwrap returns the cause.
func (e *UsageError) Unwrap() error { return e.Err }

// LoadError says why no package could be loaded.
type LoadError struct {
	Problem string
	Fix     string // what to do; may be empty
}

func (e *LoadError) Error() string { return withFix(e.Problem, e.Fix) }

func withFix(problem, fix string) string {
	if fix == "" {
		return problem
	}
	return problem + "\n" + fix
}
