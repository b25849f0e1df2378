package finding

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// WriteGitHub prints findings as workflow commands of GitHub Actions, which makes
// annotations of them. File names have to count from the repository's root.
func WriteGitHub(w io.Writer, fs []Finding) error {
	out := bufio.NewWriter(w)
	for _, f := range fs {
		// The severities are the names of the commands.
		fmt.Fprintf(out, "::%s %s::%s\n", f.Severity, gitHubProperties(f), gitHubData.Replace(story(f)))
	}
	return out.Flush()
}

// What would end a command or one of its properties, and the percent sign of
// such a replacement, is replaced. The runner turns it back.
var (
	gitHubData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	gitHubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// gitHubProperties says where a finding is, as far as that is known. The runner
// drops columns of what spans lines, so they are left out.
func gitHubProperties(f Finding) string {
	endLine, column, endColumn := f.End.Line, f.Location.Column, f.End.Column
	switch {
	case !f.hasEnd():
		endLine, endColumn = 0, 0
	case endLine != f.Location.Line:
		column, endColumn = 0, 0
	}
	properties := []string{"file=" + gitHubProperty.Replace(f.Location.File)}
	for _, number := range []struct {
		name  string
		value int
	}{
		{"line", f.Location.Line},
		{"endLine", endLine},
		{"col", column},
		{"endColumn", endColumn},
	} {
		if number.value > 0 {
			properties = append(properties, number.name+"="+strconv.Itoa(number.value))
		}
	}
	return strings.Join(append(properties, "title="+gitHubProperty.Replace(f.Code)), ",")
}

// story is the message with the related places on lines of their own, for readers
// that show the message only.
func story(f Finding) string {
	lines := []string{f.Message}
	for _, r := range f.Related {
		lines = append(lines, fmt.Sprintf("%s:%d:%d: %s", r.Location.File, r.Location.Line, r.Location.Column, r.Message))
	}
	return strings.Join(lines, "\n")
}
