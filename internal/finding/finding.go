// Package finding answers two questions: is this the finding we knew already,
// and how is a list of findings printed?
package finding

// Severity of a finding.
type Severity string

// The severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Place is a position in a file. File is relative to the module root with
// slashes. Line and Column start at 1; Column counts bytes.
type Place struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// Related is a further place that explains a finding.
type Related struct {
	Location Place  `json:"location"`
	End      Place  `json:"end"`
	Message  string `json:"message"`
}

// Finding is one thing a check reports.
type Finding struct {
	Code     string    `json:"code"` // the check's name
	Severity Severity  `json:"severity"`
	Location Place     `json:"location"`
	End      Place     `json:"end"`
	Message  string    `json:"message"`
	Related  []Related `json:"related,omitempty"`

	// What identifies it across edits, beside Code and the message: see [Finding.ID].
	Package   string `json:"-"` // import path
	Function  string `json:"-"` // of the declaration it lies in, empty outside one
	Statement string `json:"-"` // source text of the statement, white space folded
	Resource  string `json:"-"`
	Ordinal   int    `json:"-"` // among findings that are equal in all of the above
}

// hasEnd tells whether it is known where the finding ends: behind its start, in
// the same file.
func (f Finding) hasEnd() bool { return f.Location.before(f.End) }

// before tells whether a span can reach from p to q.
func (p Place) before(q Place) bool {
	return p.File == q.File && (p.Line < q.Line || p.Line == q.Line && p.Column < q.Column)
}
