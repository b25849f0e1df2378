package suppress

import (
	"go/token"
	"slices"
	"strings"
)

// parsed is what a directive says.
type parsed struct {
	command string   // "ignore" or "file-ignore"
	checks  []string // lower case, each once
	reason  string
}

// parse reads "//lint:ignore CHECK[,CHECK] REASON". It leaves the directives
// of other tools ("//lint:deprecated") alone.
func parse(comment string) (parsed, bool) {
	rest, ok := strings.CutPrefix(comment, "//lint:")
	if !ok {
		return parsed{}, false
	}
	command, rest := cutBlank(rest)
	if command != "ignore" && command != "file-ignore" {
		return parsed{}, false
	}
	names, reason := cutBlank(rest)
	p := parsed{command: command, reason: reason}
	// "// want" and the like after the names are no reason.
	if strings.HasPrefix(reason, "//") {
		p.reason = ""
	}
	for name := range strings.SplitSeq(strings.ToLower(names), ",") {
		if name != "" && !slices.Contains(p.checks, name) {
			p.checks = append(p.checks, name)
		}
	}
	return p, true
}

// cutBlank cuts s at its first white space.
func cutBlank(s string) (before, after string) {
	s = strings.TrimSpace(s)
	i := strings.IndexAny(s, " \t")
	if i < 0 {
		return s, ""
	}
	return s[:i], strings.TrimSpace(s[i:])
}

func (p parsed) wellFormed() bool {
	return p.command == "ignore" && len(p.checks) > 0 && p.reason != ""
}

// problem says what is wrong with the directive, or "".
func (p parsed) problem(known func(string) bool) string {
	if p.wellFormed() {
		return ""
	}
	if len(p.checks) == 0 {
		if p.command == "ignore" {
			return "//lint:ignore names no check: write //lint:ignore CHECK REASON"
		}
		return ""
	}
	i := slices.IndexFunc(p.checks, known)
	if i < 0 {
		return ""
	}
	if p.command == "file-ignore" {
		return "//lint:file-ignore does not silence " + p.checks[i] +
			": write //lint:ignore at the statement, or name the file under exclude: in fence.yaml"
	}
	return "//lint:ignore " + strings.Join(p.checks, ",") + " gives no reason and is not honoured: say why the write is safe"
}

func (d *directive) silences(check string, pos token.Pos) bool {
	return d.wellFormed() && d.extent.contains(pos) && slices.Contains(d.checks, check)
}
