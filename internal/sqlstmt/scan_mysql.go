package sqlstmt

import (
	"regexp"
	"slices"
	"strconv"
)

// dashesComment tells whether the two dashes at i begin a comment. In MySQL they
// do only before a blank: 5--1 is 6.
func (s *scanner) dashesComment(i int) bool {
	return !s.mysql || i+2 >= len(s.text) || s.text[i+2] <= ' ' || s.text[i+2] == 0x7f
}

// variableEnd is the end of @name, @@session.name and $name.
func (s *scanner) variableEnd() int {
	i := s.pos
	for i < len(s.text) && s.text[i] == s.text[s.pos] {
		i++
	}
	for i < len(s.text) && (isWordByte(s.text[i]) || s.text[i] == '.') {
		i++
	}
	return i
}

// labels tells whether the colon belongs to what is before it, as in again:LOOP.
func (s *scanner) labels() bool {
	last := len(s.toks) - 1
	return last >= 0 && int(s.toks[last].end) == s.pos && s.endsOperand(last)
}

// runnable is the start of a comment that is none: MySQL and MariaDB run what is
// in /*! */ and in /*!50000 */ from that version on, MariaDB alone also /*M! */.
// /*T! */ is one to both, but not to the parser.
var runnable = regexp.MustCompile(`^/\*([MT]?)!(\d{5,6})?`)

// comment skips a comment. One that is none it opens, so that the parser sees
// what the server does; one that is for versions of the server that a program may
// or may not meet becomes a hole. One without an end is left to the parser to
// refuse, except in SQLite, where the end of the text ends it.
func (s *scanner) comment() {
	open, f := 0, ordinary
	if s.mysql {
		open, f = commentFate(s.text[s.pos:], s.maria)
	}
	end, closed := s.commentEnd(s.postgres || f == runs || f == depends || f == never)
	switch {
	case f != ordinary && !closed:
		s.running = s.pos
		s.erase(end, "")
	case f == runs:
		s.running = s.pos
		s.erase(s.pos+open, "")
	case !closed && !s.sqlite:
		s.emit(tOp, end)
	case f == ordinary:
		s.pos = end
	case f == depends:
		s.toks = append(s.toks, token{tHole, int32(s.pos), int32(s.pos + len(Hole))})
		s.erase(end, Hole)
	default:
		s.erase(end, "")
	}
}

// fate is what becomes of the content of a comment.
type fate int

const (
	ordinary fate = iota
	foreign       // a comment to every server, but not to the parser
	never         // other servers would run it
	runs
	depends // on the version of the server
)

// The versions every server that is still maintained has: what is for them or
// older ones runs everywhere.
const (
	oldestMySQL   = 80000
	oldestMariaDB = 100600
)

// commentFate says what becomes of the comment text begins with, and how long its
// opening is.
func commentFate(text string, maria bool) (open int, f fate) {
	m := runnable.FindStringSubmatch(text)
	if m == nil || m[1] == "M" && !maria {
		return 0, ordinary
	}
	v, _ := strconv.Atoi(m[2]) // 0: any version
	switch {
	case m[1] == "T":
		return len(m[0]), foreign
	case maria && m[1] == "" && v >= 50700 && v <= 99999:
		return len(m[0]), never // it is for MySQL versions MariaDB did not follow
	case v <= oldestMySQL, maria && v <= oldestMariaDB:
		return len(m[0]), runs
	}
	return len(m[0]), depends
}

// Runnable tells whether a server may read as SQL what is in the comment that text
// begins with, and how long the opening of that is; some is false if none does. The
// length is 0 if it is a comment like any other.
func Runnable(text string, d Dialect) (open int, some bool) {
	open, f := commentFate(text, d == MariaDB)
	return open, f == runs || f == depends
}

// erase overwrites the text up to end with instead and blanks. Nothing moves.
func (s *scanner) erase(end int, instead string) {
	if s.edited == nil {
		s.edited = []byte(s.text)
	}
	n := copy(s.edited[s.pos:end], instead)
	for i := s.pos + n; i < end; i++ {
		s.edited[i] = ' '
	}
	s.pos = end
}

// settle makes what was erased count. A runnable comment without an end stays
// one.
func (s *scanner) settle() {
	if s.edited == nil {
		return
	}
	if s.running >= 0 {
		copy(s.edited[s.running:], "/*")
		inside := func(t token) bool { return int(t.start) >= s.running }
		s.toks = append(slices.DeleteFunc(s.toks, inside), token{tOp, int32(s.running), int32(len(s.text))})
	}
	s.text = string(s.edited)
}

// edit is what to put for a token.
type edit struct {
	tok int
	put string
}

// asMySQL says what to put for tokens of MariaDB, so that a parser of MySQL reads
// them, in the order of the tokens.
func (s scanned) asMySQL() []edit {
	var out []edit
	first, depth, returned := 0, 0, false
	for i, t := range s.toks {
		switch {
		case t.kind == tPunct && s.punct(i, '('):
			depth++
		case t.kind == tPunct && s.punct(i, ')'):
			depth--
		case t.kind == tPunct && s.punct(i, ';') && depth == 0:
			first, returned = i+1, false
		case t.kind != tWord:
		case depth == 0 && !returned && s.word(i, "RETURNING") && s.mayReturn(first) && !s.punct(i-1, '.'):
			returned = true
			out = append(out, edit{i, returningAs})
		case s.punct(i+1, '(') && s.word(i, "VALUE") && !s.endsOperand(i-1):
			out = append(out, edit{i, "VALUES"})
		case s.word(i, "LOCK"):
			out = s.lockPhrase(out, i)
		}
	}
	return out
}

// RETURNING is read as a SELECT of its own. Its first column tells it from others:
// a private-use code point, like [Hole].
const (
	returningMark = "\ue001"
	returningAs   = "; SELECT '" + returningMark + "',"
)

// mayReturn tells whether token i begins a statement that can have RETURNING.
func (s scanned) mayReturn(i int) bool {
	for _, w := range []string{"INSERT", "REPLACE", "DELETE", "UPDATE"} {
		if s.word(i, w) {
			return true
		}
	}
	return s.word(i+1, "INTO") // behind a hole
}

// lockPhrase puts FOR SHARE for the LOCK IN SHARE MODE at token i if words follow
// that only FOR SHARE can have in MySQL.
func (s scanned) lockPhrase(out []edit, i int) []edit {
	if !s.word(i+1, "IN") || !s.word(i+2, "SHARE") || !s.word(i+3, "MODE") {
		return out
	}
	wait := s.word(i+4, "WAIT")
	if !wait && !s.word(i+4, "NOWAIT") && !s.word(i+4, "SKIP") {
		return out
	}
	out = append(out, edit{i, "FOR"}, edit{i + 1, " "}, edit{i + 3, " "})
	if wait && i+5 < len(s.toks) && s.toks[i+5].kind == tNumber {
		out = append(out, edit{i + 4, " "}, edit{i + 5, " "})
	}
	return out
}
