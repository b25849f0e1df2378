package finding

import "io"

// issue is one entry of a Code Quality report, as far as GitLab reads it.
type issue struct {
	Description string        `json:"description"`
	CheckName   string        `json:"check_name"`
	Fingerprint string        `json:"fingerprint"`
	Severity    string        `json:"severity"`
	Location    issueLocation `json:"location"`
}

type issueLocation struct {
	Path  string     `json:"path"`
	Lines issueLines `json:"lines"`
}

type issueLines struct {
	Begin int `json:"begin"`
}

// gitLabSeverity: of GitLab's info, minor, major, critical and blocker, the two
// above info leave room for what is worse than a finding of a linter.
var gitLabSeverity = map[Severity]string{
	Error:   "major",
	Warning: "minor",
}

// WriteGitLab prints findings as a Code Quality report of GitLab. File names have
// to count from the repository's root. [Number] must have numbered the findings:
// of those that share a fingerprint GitLab shows one.
func WriteGitLab(w io.Writer, fs []Finding) error {
	issues := make([]issue, len(fs)) // an empty report is a list too
	for i, f := range fs {
		issues[i] = issue{
			Description: f.Message,
			CheckName:   f.Code,
			Fingerprint: f.ID(),
			Severity:    gitLabSeverity[f.Severity],
			Location:    issueLocation{f.Location.File, issueLines{f.Location.Line}},
		}
	}
	return writeIndented(w, issues)
}
