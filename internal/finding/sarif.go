package finding

import (
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// Run is what a SARIF log says beside the findings.
type Run struct {
	Version string // of fence: v1.2.3, or what a build without one calls itself
	Rules   []Rule // of every code a finding has
	Notes   []Note // what was not checked; with one, the run was not successful
	Trees   []Tree // where files lie whose names are absolute

	// Read returns the content of a file by its name in a place.
	Read func(file string) ([]byte, error)
}

// Rule documents a code.
type Rule struct {
	ID       string
	Title    string // one sentence
	Summary  string // a paragraph
	Text     string // everything, as plain text
	Markdown string // the same in Markdown
	URL      string
	Severity Severity // unless the configuration has another
}

// Note says that something was not checked, and why.
type Note struct {
	Message string
	Place   Place // zero if there is none
}

// Tree is a directory that lies elsewhere on each machine. A log names the files
// in it by its ID.
type Tree struct {
	ID    string
	About string
	Dir   string // absolute, with slashes; empty if it is not known
}

// sourceRoot is the ID of the directory that relative names count from. GitHub and
// editors take it for the root of the checkout.
const sourceRoot = "%SRCROOT%"

// fingerprint is the key of [Finding.ID]. GitHub adds one of its own.
var fingerprint = fmt.Sprintf("fence/v%d", scheme)

// WriteSARIF prints findings as a SARIF 2.1.0 log. File names have to be absolute
// or count from the repository's root. [Number] must have numbered the findings.
// The same run gives the same bytes: no time, no command line, and no directory
// but for files outside all trees.
func WriteSARIF(w io.Writer, fs []Finding, r Run) error {
	b := sarifBuilder{Run: r, lines: newLines(r.Read)}
	return writeIndented(w, sarifLog{
		Schema:  "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
		Version: "2.1.0",
		Runs:    []sarifRun{b.run(fs)},
	})
}

// sarifBuilder makes the parts of a log.
type sarifBuilder struct {
	Run
	lines *lines
}

func (b *sarifBuilder) run(fs []Finding) sarifRun {
	run := sarifRun{
		Tool:               sarifTool{b.driver()},
		Invocations:        []sarifInvocation{b.invocation()},
		OriginalURIBaseIDs: b.bases(),
		ColumnKind:         "utf16CodeUnits",
		Results:            make([]sarifResult, len(fs)), // nothing found is an empty list
	}
	for i, f := range fs {
		run.Results[i] = b.result(f)
	}
	return run
}

func (b *sarifBuilder) driver() sarifDriver {
	d := sarifDriver{
		Name:           "fence",
		Version:        b.Version,
		InformationURI: "https://github.com/fencelint/fence",
		Rules:          make([]sarifRule, len(b.Rules)),
	}
	if version, ok := strings.CutPrefix(b.Version, "v"); ok {
		d.SemanticVersion = version
	}
	for i, r := range b.Rules {
		d.Rules[i] = sarifRuleOf(r)
	}
	return d
}

func (b *sarifBuilder) invocation() sarifInvocation {
	i := sarifInvocation{ExecutionSuccessful: len(b.Notes) == 0}
	for _, n := range b.Notes {
		i.Notifications = append(i.Notifications, b.notification(n))
	}
	return i
}

// bases says in words what the directories are that URIs count from.
func (b *sarifBuilder) bases() map[string]sarifBase {
	bases := map[string]sarifBase{
		sourceRoot: {sarifMessage{"The root of the repository, or else of the module or workspace."}},
	}
	for _, t := range b.Trees {
		bases[t.ID] = sarifBase{sarifMessage{t.About}}
	}
	return bases
}

func sarifRuleOf(r Rule) sarifRule {
	return sarifRule{
		ID:                   r.ID,
		ShortDescription:     sarifMessage{r.Title},
		FullDescription:      sarifMessage{r.Summary},
		Help:                 sarifHelp{r.Text, r.Markdown},
		HelpURI:              r.URL,
		DefaultConfiguration: sarifConfiguration{r.Severity},
	}
}

func (b *sarifBuilder) notification(n Note) sarifNotification {
	note := sarifNotification{Level: Error, Message: sarifMessage{n.Message}}
	if at := b.physical(n.Place, n.Place); at != nil {
		note.Locations = []sarifLocation{{PhysicalLocation: at}}
	}
	return note
}

func (b *sarifBuilder) result(f Finding) sarifResult {
	r := sarifResult{
		RuleID:              f.Code,
		RuleIndex:           slices.IndexFunc(b.Rules, func(r Rule) bool { return r.ID == f.Code }),
		Level:               f.Severity,
		Message:             sarifMessage{f.Message},
		Locations:           []sarifLocation{{PhysicalLocation: b.physical(f.Location, f.End)}},
		PartialFingerprints: map[string]string{fingerprint: f.ID()},
	}
	for i, related := range f.Related {
		// GitHub and editors show related places only where the message links to
		// them, by their ID.
		id := i + 1
		text := strings.TrimSpace(related.Message) // indented for people
		r.Message.Text += fmt.Sprintf("\n[%s](%d)", sarifLinkText.Replace(text), id)
		r.RelatedLocations = append(r.RelatedLocations, sarifLocation{
			ID:               id,
			PhysicalLocation: b.physical(related.Location, related.End),
			Message:          &sarifMessage{text},
		})
	}
	return r
}

// sarifLinkText escapes what ends the text of a link.
var sarifLinkText = strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`)

// physical is the span between two places; nil if they are not known.
func (b *sarifBuilder) physical(from, to Place) *sarifPhysical {
	if from.File == "" {
		return nil
	}
	return &sarifPhysical{b.artifact(from.File), b.region(from, to)}
}

// artifact names a file: from the root, from a tree, or else by its full name.
func (b *sarifBuilder) artifact(file string) sarifArtifact {
	if !filepath.IsAbs(filepath.FromSlash(file)) {
		return sarifArtifact{relativeURI(file), sourceRoot}
	}
	for _, t := range b.Trees {
		if name, ok := strings.CutPrefix(file, t.Dir+"/"); ok && t.Dir != "" {
			return sarifArtifact{relativeURI(name), t.ID}
		}
	}
	full := url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(file, "/")} // C:/a.go has no slash
	return sarifArtifact{URI: full.String()}
}

// relativeURI writes ./ before a name whose first part would look like a scheme.
func relativeURI(file string) string { return (&url.URL{Path: file}).String() }

// region is the span between two places, in UTF-16 code units. One whose end is not
// known reaches to the end of its line, and one whose columns are not known spans
// whole lines.
func (b *sarifBuilder) region(from, to Place) *sarifRegion {
	if from.Line == 0 {
		return nil
	}
	lines := &sarifRegion{StartLine: from.Line, EndLine: from.Line}
	start, ok := b.lines.column(from)
	end, endOK := b.lines.end(from)
	if from.before(to) {
		lines.EndLine = to.Line
		end, endOK = b.lines.column(to)
	}
	if !ok || !endOK {
		return lines
	}
	return &sarifRegion{from.Line, start, lines.EndLine, end}
}
