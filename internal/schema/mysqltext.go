package schema

import (
	"bytes"
	"errors"
	"regexp"
	"strings"

	"github.com/sqlc-dev/marino/ast"
	mysqlmode "github.com/sqlc-dev/marino/mysql"
	mysqlparser "github.com/sqlc-dev/marino/parser"

	"github.com/fencelint/fence/internal/sqlstmt"
)

// marinoStatement parses one statement. The text does not say whether "x" is a
// string or, in the mode ANSI_QUOTES, a name: a name is tried second.
func marinoStatement(text string) (ast.StmtNode, error) {
	p := mysqlparser.New()
	stmts, _, err := p.ParseSQL(text)
	if err != nil && strings.Contains(text, `"`) {
		p.SetSQLMode(mysqlmode.ModeANSIQuotes)
		if again, _, ansi := p.ParseSQL(text); ansi == nil {
			stmts, err = again, nil
		}
	}
	switch {
	case err != nil:
		return nil, sqlstmt.MySQLError(text, err)
	case len(stmts) != 1:
		return nil, errors.New("not one statement")
	}
	return stmts[0], nil
}

// collation is one of a column or a table, of which the parser does not know all.
var collation = regexp.MustCompile(`(?i)\b(?:default\s+)?(?:collate|character\s+set|charset)\s*=?\s*[\w'"]+`)

// rowBody is, in its group, the body of a trigger, which is kept as it is written anyway.
var rowBody = regexp.MustCompile(`(?is)^\s*create\s[^(]*?\btrigger\b.*?\bfor\s+each\s+row\b(?:\s*(?:follows|precedes)\s+\S+)?\s(.*)`)

// mariaExtras are what only MariaDB has and what decides nothing here: the group of
// each, or all of it, may be left out.
var mariaExtras = []*regexp.Regexp{
	regexp.MustCompile(`(?i)^\s*create(\s+or\s+replace)\b`),
	regexp.MustCompile(`(?i)^\s*alter(\s+online)\b`),
	regexp.MustCompile(`(?i)^\s*(?:alter|rename)\s+(?:ignore\s+)?table(\s+if\s+exists)\b`),
	regexp.MustCompile(`(?i)\bwith(?:out)?\s+system\s+versioning\b`),
	regexp.MustCompile(`(?i),?\s*\b(?:add|drop)\s+system\s+versioning\b`),
	regexp.MustCompile(`(?i)\b(?:key|index|constraint)(\s+if\s+not\s+exists)\b`),
	regexp.MustCompile(`(?i)\b(?:generated\s+always\s+)?as\s+row\s+(?:start|end)\b`),
	regexp.MustCompile(`(?i),\s*period\s+for\s+\w+\s*\([^()]*\)`),
}

// mariaType is a type only MariaDB has, behind the name of a column.
var mariaType = regexp.MustCompile("(?i)(?:[(,]|\\b(?:column|add|modify|exists|change\\s+\\S+))\\s*(?:`[^`]*`|\\w+)\\s+(uuid|inet4|inet6)(?:\\s*[^\\s(\\w]|\\s+\\w|\\s*$)")

// withoutExtras is a statement without what the parser may not know and nobody here
// needs. Nothing else moves.
func withoutExtras(text string, d sqlstmt.Dialect) string {
	out := []byte(text)
	seen := masked(out)
	cut := func(re *regexp.Regexp, instead string) {
		for at := 0; ; {
			m := re.FindSubmatchIndex(seen[at:])
			if m == nil {
				return
			}
			start, end := at+m[len(m)-2], at+m[len(m)-1]
			blank(out, start, end)
			copy(out[start:end], instead)
			at = end // what is behind the group may be before the next one
		}
	}
	cut(collation, "")
	cut(rowBody, "SET @a = 1")
	if options := tableOptions(seen); options > 0 {
		blank(out, options, len(out))
	}
	if d == sqlstmt.MariaDB {
		for _, re := range mariaExtras {
			cut(re, "")
		}
		cut(mariaType, "text")
	}
	return string(out)
}

var (
	createsTable = regexp.MustCompile(`(?i)^\s*create\s[^(]*?\btable\b`)
	selects      = regexp.MustCompile(`(?i)\b(?:select|table|values\s+row)\b`)
)

// tableOptions is the offset behind the columns of CREATE TABLE, if no query
// follows them; 0 if there is no such place.
func tableOptions(seen []byte) int {
	open := bytes.IndexByte(seen, '(')
	if open < 0 || !createsTable.Match(seen) {
		return 0
	}
	_, end := list(seen, open+1, len(seen))
	if end >= len(seen) || selects.Match(seen[end+1:]) {
		return 0
	}
	return end + 1
}

// masked is a text in which strings and quoted names hold nothing that means
// anything.
func masked(text []byte) []byte {
	out := bytes.Clone(text)
	for i := 0; i < len(out); i++ {
		q := out[i]
		if q != '\'' && q != '"' && q != '`' {
			continue
		}
		end, _ := quoteEnd(out, i, q, q != '`')
		for i++; i < end-1; i++ {
			out[i] = 'q'
		}
	}
	return out
}

// span is a piece of a text.
type span struct{ start, end int }

// list cuts a masked text, from one offset up to another or to the bracket that ends
// it, at its commas.
func list(seen []byte, from, to int) (elements []span, end int) {
	depth, start := 0, from
	add := func(end int) {
		for start < end && isBlank(seen[start]) {
			start++
		}
		if start < end {
			elements = append(elements, span{start, end})
		}
	}
	for i := from; i < to; i++ {
		switch c := seen[i]; {
		case c == '(':
			depth++
		case c == ')' && depth == 0:
			add(i)
			return elements, i
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			add(i)
			start = i + 1
		}
	}
	add(to)
	return elements, to
}

func isBlank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// myText is the text of a statement, for what its tree does not tell: where the
// columns are and how their types are written.
type myText struct {
	st   *statement
	bare string
	seen []byte // bare, masked
}

func newMyText(st *statement) *myText {
	bare := st.bare(st.start, st.end)
	return &myText{st, bare, masked([]byte(bare))}
}

// site is where the definition of a column stands: from its name on, in the file.
type site struct{ name, end int }

// columns finds the definitions of CREATE TABLE's columns, and its other elements.
func (t *myText) columns(cols []*ast.ColumnDef) (sites []site, others []int) {
	open := bytes.IndexByte(t.seen, '(')
	if open < 0 {
		return t.nowhere(len(cols)), nil
	}
	elements, _ := list(t.seen, open+1, len(t.seen))
	return t.align(elements, cols)
}

// align finds the columns among the elements of a list, which have their order.
func (t *myText) align(elements []span, cols []*ast.ColumnDef) (sites []site, others []int) {
	for _, e := range elements {
		if i := len(sites); i < len(cols) && strings.EqualFold(t.bare[e.start:t.nameEnd(e.start)], t.spelled(e.start, cols[i])) {
			sites = append(sites, site{t.st.start + e.start, t.st.start + e.end})
			continue
		}
		others = append(others, t.st.start+e.start)
	}
	return append(sites, t.nowhere(len(cols)-len(sites))...), others
}

// nowhere is n columns that are not found.
func (t *myText) nowhere(n int) []site {
	sites := make([]site, n)
	for i := range sites {
		sites[i] = site{t.st.start, t.st.start}
	}
	return sites
}

// spelled is the name of a column as it stands at an offset, if it stands there.
func (t *myText) spelled(at int, col *ast.ColumnDef) string {
	name := col.Name.Name.O
	if at < len(t.bare) && (t.bare[at] == '`' || t.bare[at] == '"') {
		q := t.bare[at : at+1]
		return q + strings.ReplaceAll(name, q, q+q) + q
	}
	return name
}

// nameEnd is the end of the name at an offset.
func (t *myText) nameEnd(at int) int {
	if at < len(t.bare) && (t.bare[at] == '`' || t.bare[at] == '"') {
		end, _ := quoteEnd([]byte(t.bare), at, t.bare[at], false)
		return end
	}
	for at < len(t.bare) && (isWordByte(t.bare[at]) || t.bare[at] == '$') {
		at++
	}
	return at
}

// typeOf is the type of the column at a site as written.
func (t *myText) typeOf(at site) string {
	from := t.nameEnd(at.name - t.st.start)
	to := at.end - t.st.start
	if from >= to {
		return ""
	}
	return writtenType(strings.TrimLeft(t.bare[from:to], " \t\r\n\f\v"))
}

var rowVersion = regexp.MustCompile(`(?i)\bas\s+row\s+(?:start|end)\b`)

// versionColumn reports whether the column at a site is one of MariaDB's that say
// since when a row has been, and until when.
func (t *myText) versionColumn(at site) bool {
	return rowVersion.Match(t.seen[at.name-t.st.start : at.end-t.st.start])
}

// part is a part of ALTER TABLE: where it starts, and the columns it defines.
type part struct {
	start   int
	columns []site
}

var (
	alters  = regexp.MustCompile(`(?i)^\s*alter\s+(?:online\s+)?(?:ignore\s+)?table\s+(?:if\s+exists\s+)?`)
	defines = regexp.MustCompile(`(?i)^(?:add|modify|(change))\b\s*(?:column\b\s*)?(?:if\s+(?:not\s+)?exists\s+)?`)
)

// alterations finds the parts of ALTER TABLE.
func (t *myText) alterations(specs []*ast.AlterTableSpec) []part {
	from := len(alters.Find(t.seen))
	from = t.nameEnd(from)
	if from < len(t.bare) && t.bare[from] == '.' {
		from = t.nameEnd(from + 1)
	}
	elements, _ := list(t.seen, from, len(t.seen))
	parts := make([]part, len(specs))
	for i, spec := range specs {
		parts[i] = part{t.st.start, t.nowhere(len(spec.NewColumns))}
		for j := range elements {
			if p, ok := t.part(elements[j], spec.NewColumns); ok {
				parts[i], elements = p, elements[j+1:]
				break
			}
		}
	}
	return parts
}

// part finds the columns in one part of ALTER TABLE; false if it does not define them.
func (t *myText) part(e span, cols []*ast.ColumnDef) (part, bool) {
	m := defines.FindSubmatchIndex(t.seen[e.start:e.end])
	if m == nil || len(cols) == 0 {
		return part{}, false
	}
	from := e.start + m[1]
	if m[2] >= 0 { // CHANGE names the old one first
		from = t.nameEnd(from)
		for from < e.end && isBlank(t.seen[from]) {
			from++
		}
	}
	elements := []span{{from, e.end}}
	if from < e.end && t.seen[from] == '(' {
		elements, _ = list(t.seen, from+1, e.end)
	}
	sites, _ := t.align(elements, cols)
	return part{t.st.start + e.start, sites}, sites[0].end > t.st.start
}

var eachRow = regexp.MustCompile(`(?is)\bfor\s+each\s+row\b(?:\s*(?:follows|precedes)\s+\S+)?\s*`)

// triggerBody is the body of a trigger as written.
func (t *myText) triggerBody() string {
	m := eachRow.FindIndex(t.seen)
	if m == nil {
		return ""
	}
	return strings.TrimSpace(string(t.st.src.text[t.st.start+m[1] : t.st.end]))
}
