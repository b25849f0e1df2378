package schema

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/fencelint/fence/internal/sqlstmt"
)

// statement is one statement of a source, without its semicolon.
type statement struct {
	src        *source
	start, end int
	words      []string // its first words, upper case
	depth      int      // of its deepest parentheses
	comments   []comment
	broken     string // why it has no end; empty if it has
	brokenAt   int
}

// comment is one comment before, in or after a statement.
type comment struct {
	start, end int
	ownLine    bool // nothing but blanks before it on its line
	depth      int  // parentheses open around it
	place      place
}

// place says where a comment stands, seen from its statement.
type place int

const (
	above place = iota
	inside
	behind // after the end, on the same line
)

func (st *statement) text() string { return string(st.src.text[st.start:st.end]) }

// bare is the text from offset from to offset to without comments.
func (st *statement) bare(from, to int) string { return string(st.src.bare[from:to]) }

// maxWords is how many words of a statement are kept: enough to tell what it
// is ("CREATE OR REPLACE TEMPORARY TRIGGER").
const maxWords = 6

// splitter cuts a source into statements. It knows what can hide a semicolon:
// strings, quoted names, dollar quotes, comments, and the BEGIN ... END of a
// trigger or of a function with an SQL body.
type splitter struct {
	src     *source
	dialect sqlstmt.Dialect
	sqlite  bool   // no dollar quotes, no nested comments, names in [brackets]
	mysql   bool   // nor these; backslashes escape, # begins a comment, DELIMITER changes the end
	ending  []byte // what ends a statement
	at      int
	done    []*statement
	open    *statement // nil between statements
	pending []comment  // seen since the last statement
	parens  int
	blocks  []bool // BEGINs, CASEs and the like open in a body: whether it is a CASE in an expression
	leads   bool   // a statement of a body may begin here
	last    string // the word before, if nothing is between
	body    bool   // the statement may have a BEGIN ... END body
	stdin   bool   // COPY ... FROM STDIN: data follows
	running bool   // a comment of MySQL that is none is open
}

// split cuts src into statements; rest is the comments after the last one.
func split(src *source, d sqlstmt.Dialect) (all []*statement, rest []comment) {
	src.bare = bytes.Clone(src.text)
	s := &splitter{src: src, dialect: d, sqlite: d == sqlstmt.SQLite, mysql: d == sqlstmt.MySQL || d == sqlstmt.MariaDB, ending: []byte(";")}
	for s.at < len(src.text) {
		s.step()
	}
	s.finish(s.at)
	return s.done, s.pending
}

// step consumes one token.
func (s *splitter) step() {
	text := s.src.text[s.at:]
	switch c := text[0]; {
	case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v':
		s.at++
	case bytes.HasPrefix(text, s.ending) && (len(s.blocks) == 0 || string(s.ending) != ";"):
		s.finish(s.at)
		s.at += len(s.ending)
		s.skipData()
	case s.startsLineComment(text):
		s.comment(s.src.lineEnd(s.at), true)
	case bytes.HasPrefix(text, []byte("/*")):
		s.starComment(text)
	case s.running && bytes.HasPrefix(text, []byte("*/")):
		s.hide(s.at + len("*/"))
		s.running = false
	case s.open == nil && s.mysql && delimiter.Match(text):
		s.ending = bytes.Clone(delimiter.FindSubmatch(text)[1])
		s.hide(s.src.lineEnd(s.at))
	case c == '\\' || c == '.' && s.open == nil:
		s.meta()
	case qualifier.Match(text):
		s.begin()
		s.hide(s.at + len(qualifier.Find(text)))
	case isQuote(c, s.sqlite):
		s.begin()
		s.other(c)
		s.quoted(c)
	case c == '$' && !s.sqlite && !s.mysql && dollarTag(text) != "":
		s.begin()
		s.dollarQuoted(dollarTag(text))
	case isWordByte(c):
		s.begin()
		s.word()
	default:
		s.begin()
		s.other(c)
		s.paren(c)
		s.at++
	}
}

// delimiter is the command with which a client of MySQL changes what ends a
// statement.
var delimiter = regexp.MustCompile(`(?i)^delimiter[ \t]+(\S+)`)

// startsLineComment reports whether a comment to the end of the line begins. In
// MySQL two dashes need a blank behind them.
func (s *splitter) startsLineComment(text []byte) bool {
	if s.mysql && text[0] == '#' {
		return true
	}
	return bytes.HasPrefix(text, []byte("--")) && (!s.mysql || len(text) == 2 || text[2] <= ' ')
}

// starComment skips a comment, or opens one that a server of MySQL reads as SQL.
func (s *splitter) starComment(text []byte) {
	open, runs := 0, false
	if s.mysql {
		open, runs = sqlstmt.Runnable(string(text[:min(len(text), longestOpening)]), s.dialect)
	}
	if !runs {
		s.comment(s.blockComment(open > 0))
		return
	}
	s.hide(s.at + open)
	s.running = true
}

// longestOpening is more than the opening of a comment takes: /*M!100100.
const longestOpening = 16

// begin opens a statement unless one is open.
func (s *splitter) begin() {
	if s.open != nil {
		return
	}
	s.open = &statement{src: s.src, start: s.at, comments: s.pending}
	s.pending, s.parens, s.blocks, s.body, s.stdin = nil, 0, nil, false, false
}

// finish ends the open statement before offset end.
func (s *splitter) finish(end int) {
	if s.open == nil {
		return
	}
	s.open.end = end
	s.done = append(s.done, s.open)
	s.open, s.blocks = nil, nil
}

// breakOff ends the text in the middle of something that starts at from.
func (s *splitter) breakOff(what string, from int) {
	s.begin()
	s.open.broken, s.open.brokenAt = "unterminated "+what, from
	s.at = len(s.src.text)
}

func (s *splitter) comment(end int, ok bool) {
	if !ok {
		s.breakOff("comment", s.at)
		return
	}
	lineStart := s.src.lines[s.src.line(s.at)]
	c := comment{start: s.at, end: end, depth: s.parens, ownLine: len(bytes.TrimSpace(s.src.text[lineStart:s.at])) == 0}
	blank(s.src.bare, c.start, c.end)
	if s.open != nil && isMarker(string(s.src.text[c.start:c.end]), statementEnd) {
		s.finish(s.at)
	}
	last := len(s.done) - 1
	switch {
	case s.open != nil:
		c.place = inside
		s.open.comments = append(s.open.comments, c)
	case !c.ownLine && last >= 0 && s.src.line(s.done[last].end) == s.src.line(c.start):
		c.place = behind
		s.done[last].comments = append(s.done[last].comments, c)
	default:
		s.pending = append(s.pending, c)
	}
	s.at = end
}

// blockComment finds the end of a comment, which nests in PostgreSQL, and in MySQL
// if it is one for other servers.
func (s *splitter) blockComment(foreign bool) (end int, ok bool) {
	depth := 0
	nests := foreign || !s.sqlite && !s.mysql
	for i := s.at; i+1 < len(s.src.text); i++ {
		switch pair := string(s.src.text[i : i+2]); {
		case pair == "/*" && (depth == 0 || nests):
			depth++
			i++
		case pair == "*/":
			depth--
			i++
			if depth == 0 {
				return i + 1, true
			}
		}
	}
	return 0, false
}

// qualifier is a schema that a program fills in ("%s.jobs", "${schema}.jobs"):
// without it the name matches any schema.
var qualifier = regexp.MustCompile(`^(?:"?%(?:\[\d+\])?[sqv]"?|"?\$\{[^}\n]*\}"?|"?\{\{[^}\n]*\}\}"?)\.`)

// meta hides a command of psql (\restrict) or of the sqlite3 shell (.mode), to
// the end of its line.
func (s *splitter) meta() { s.hide(s.src.lineEnd(s.at)) }

// hide blanks out everything up to offset end.
func (s *splitter) hide(end int) {
	s.src.blank(s.at, end)
	blank(s.src.bare, s.at, end)
	s.at = end
}

func isQuote(c byte, sqlite bool) bool {
	return c == '\'' || c == '"' || c == '`' || c == '[' && sqlite
}

// quoted skips a string or a quoted name; doubled quotes stay inside.
func (s *splitter) quoted(quote byte) {
	escapes := s.mysql && quote != '`' || quote == '\'' && !s.sqlite && s.afterE()
	end, ok := quoteEnd(s.src.text, s.at, quote, escapes)
	if !ok {
		s.breakOff("quote", s.at)
		return
	}
	s.at = end
}

// quoteEnd is the end of the string or quoted name that starts at offset from, and
// whether it has one.
func quoteEnd(text []byte, from int, quote byte, escapes bool) (end int, ok bool) {
	closing := quote
	if quote == '[' {
		closing = ']'
	}
	for i := from + 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && escapes:
			i++
		case c == closing && quote != '[' && i+1 < len(text) && text[i+1] == closing:
			i++
		case c == closing:
			return i + 1, true
		}
	}
	return len(text), false
}

// afterE reports whether the quote at hand belongs to an E'...' string.
func (s *splitter) afterE() bool {
	if s.at == 0 || s.src.text[s.at-1]|0x20 != 'e' {
		return false
	}
	return s.at == 1 || !isWordByte(s.src.text[s.at-2])
}

// dollarTag is the $tag$ that text starts with, or "".
func dollarTag(text []byte) string {
	for i := 1; i < len(text); i++ {
		c := text[i]
		if c == '$' {
			return string(text[:i+1])
		}
		if !isWordByte(c) || i == 1 && c >= '0' && c <= '9' {
			return ""
		}
	}
	return ""
}

func (s *splitter) dollarQuoted(tag string) {
	inner := s.at + len(tag)
	i := bytes.Index(s.src.text[inner:], []byte(tag))
	if i < 0 {
		s.breakOff("dollar quote", s.at)
		return
	}
	s.at = inner + i + len(tag)
}

// isWordByte accepts what a word of SQL consists of, all of UTF-8 included.
func isWordByte(c byte) bool {
	return c == '_' || c >= 0x80 || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// bodies are the statements that can have a BEGIN ... END of statements.
var bodies = map[string]bool{"TRIGGER": true, "FUNCTION": true, "PROCEDURE": true, "EVENT": true}

// between stand between CREATE and the kind of what is created.
var between = map[string]bool{"OR": true, "REPLACE": true, "TEMP": true, "TEMPORARY": true, "CONSTRAINT": true}

func (s *splitter) word() {
	start := s.at
	for s.at < len(s.src.text) && (isWordByte(s.src.text[s.at]) || s.src.text[s.at] == '$') {
		s.at++
	}
	w := strings.ToUpper(string(s.src.text[start:s.at]))
	if len(s.open.words) < maxWords {
		s.open.words = append(s.open.words, w)
		s.body = s.body || s.createsBody()
	}
	s.stdin = s.stdin || w == "STDIN" && s.open.words[0] == "COPY"
	if s.body && (start == 0 || s.src.text[start-1] != '.') {
		s.bodyWord(w)
	}
	s.last, s.leads = w, leaders[w]
}

// other notes that something else than a word was there.
func (s *splitter) other(c byte) { s.last, s.leads = "", c == ';' || c == ':' }

// leaders are the words behind which a statement of a body begins.
var leaders = map[string]bool{
	"BEGIN": true, "THEN": true, "ELSE": true, "DO": true, "LOOP": true, "REPEAT": true, "ROW": true,
}

// blockWords begin a statement of MySQL that holds others, up to its END.
var blockWords = map[string]bool{"IF": true, "LOOP": true, "WHILE": true, "REPEAT": true, "FOR": true}

// bodyWord keeps count of what is open in a body.
func (s *splitter) bodyWord(w string) {
	last := len(s.blocks) - 1
	inExpression := last >= 0 && s.blocks[last]
	switch {
	case w == "END" && last >= 0:
		s.blocks = s.blocks[:last]
	case s.last == "END": // it says what ended
	case w == "BEGIN", s.mysql && s.leads && blockWords[w] && !inExpression:
		s.blocks = append(s.blocks, false)
	case w == "CASE" && (last >= 0 || s.mysql && s.leads):
		s.blocks = append(s.blocks, inExpression || !s.leads)
	}
}

func (s *splitter) createsBody() bool {
	words := s.open.words
	if words[0] != "CREATE" {
		return false
	}
	definer := false
	for _, w := range words[1:] {
		definer = definer || s.mysql && w == "DEFINER" // a name follows, or two
		if !between[w] && (!definer || bodies[w]) {
			return bodies[w]
		}
	}
	return false
}

func (s *splitter) paren(c byte) {
	switch c {
	case '(':
		s.parens++
		s.open.depth = max(s.open.depth, s.parens)
	case ')':
		s.parens = max(s.parens-1, 0)
	}
}

// skipData blanks out the rows after COPY ... FROM STDIN, which end with \. on
// a line of its own.
func (s *splitter) skipData() {
	if !s.stdin {
		return
	}
	s.stdin = false
	end := len(s.src.text)
	if i := bytes.Index(s.src.text[s.at:], []byte("\n\\.")); i >= 0 {
		end = s.src.lineEnd(s.at + i + 1)
	}
	s.hide(end)
}
