package sqlstmt

import "strings"

// The scanner is ours because a text is not yet SQL when it arrives: it may hold
// placeholders of a library and holes, which a parser would reject or, worse,
// misread. It knows just enough of the lexical rules to find them.

type tokenKind uint8

const (
	tWord   tokenKind = iota // identifier or keyword, unquoted
	tQuoted                  // quoted identifier
	tString                  // any string or blob literal
	tNumber
	tOp      // operator characters
	tPunct   // ( ) [ ] , ; .
	tCast    // ::
	tParam   // a placeholder
	tMaybe   // a placeholder, unless the text has native ones
	tEscaped // an operator a library makes one escape: ?? \? ::::
	tSQLC    // sqlc.arg(x) and its kin
	tHole    // a hole that is not part of anything else
)

type token struct {
	kind       tokenKind
	start, end int32 // a text has no more than maxText bytes
}

// lexis is how a family of dialects spells what is not a word.
type lexis struct {
	postgres, mysql, sqlite bool // one of them
	maria                   bool // MySQL as MariaDB speaks it
	ansi                    bool // MySQL in the mode ANSI_QUOTES: "x" is a name
}

// scanned is a text in tokens. Comments and blanks are left out.
type scanned struct {
	lexis
	text  string
	toks  []token
	depth int // the deepest nesting of ( [ and CASE
}

func (s scanned) at(i int) string {
	if i < 0 || i >= len(s.toks) {
		return ""
	}
	return s.text[s.toks[i].start:s.toks[i].end]
}

func (s scanned) count(k tokenKind) int {
	n := 0
	for _, t := range s.toks {
		if t.kind == k {
			n++
		}
	}
	return n
}

// word tells whether token i is the unquoted word w, given in upper case.
func (s scanned) word(i int, w string) bool {
	return i >= 0 && i < len(s.toks) && s.toks[i].kind == tWord && strings.EqualFold(s.at(i), w)
}

func (s scanned) punct(i int, c byte) bool {
	return i >= 0 && i < len(s.toks) && s.toks[i].kind == tPunct && s.text[s.toks[i].start] == c
}

// scanner makes tokens of a text.
type scanner struct {
	scanned
	pos     int
	style   Style
	native  bool   // a $n was seen
	open    []byte // the brackets open here
	running int    // the start of the /*! that is open here, -1 if none is
	edited  []byte // the text without what only some servers read, nil if that is all of it
}

func scan(text string, l lexis, style Style) scanned {
	s := scanner{style: style, running: -1}
	s.lexis, s.text = l, text
	s.toks = make([]token, 0, len(text)/4+8)
	for s.pos < len(text) {
		s.next()
	}
	s.settle()
	if !s.native {
		for i := range s.toks {
			if s.toks[i].kind == tMaybe {
				s.toks[i].kind = tParam
			}
		}
	}
	if strings.Contains(text, "sqlc.") {
		s.foldSQLC()
	}
	if strings.Contains(s.text, Hole) {
		s.freeHoles()
	}
	return s.scanned
}

func (s *scanner) peek(off int) byte {
	if s.pos+off < len(s.text) {
		return s.text[s.pos+off]
	}
	return 0
}

func (s *scanner) emit(k tokenKind, end int) {
	end = min(end, len(s.text))
	s.toks = append(s.toks, token{k, int32(s.pos), int32(end)})
	s.pos = end
}

func (s *scanner) next() {
	c := s.text[s.pos]
	switch {
	case c == ' ' || c >= '\t' && c <= '\r':
		s.pos++
	case c == '-' && s.peek(1) == '-' && s.dashesComment(s.pos), c == '#' && s.mysql:
		s.pos = s.lineEnd()
	case c == '/' && s.peek(1) == '*':
		s.comment()
	case c == '*' && s.running >= 0 && s.peek(1) == '/':
		s.erase(s.pos+2, "")
		s.running = -1
	case c == '\'':
		s.emit(tString, quotedEnd(s.text, s.pos, '\'', s.mysql))
	case c == '"' && s.mysql && !s.ansi:
		s.emit(tString, quotedEnd(s.text, s.pos, '"', true))
	case c == '"':
		s.emit(tQuoted, quotedEnd(s.text, s.pos, '"', false))
	case c == '`' && !s.postgres:
		s.emit(tQuoted, quotedEnd(s.text, s.pos, '`', false))
	case c == '[' && s.sqlite:
		s.emit(tQuoted, indexFrom(s.text, s.pos, ']')+1)
	case c >= '0' && c <= '9' || c == '.' && isDigit(s.peek(1)) && !s.afterOperand():
		s.emit(tNumber, s.numberEnd())
	case c == '$':
		s.dollar()
	case isWordByte(c):
		s.wordOrString(c)
	case c == '?' && (!s.postgres || s.style == Question), c == '\\' && s.peek(1) == '?' && s.postgres:
		s.question()
	case c == ':':
		s.colon()
	case c == '@' && s.sqlite:
		s.emit(tParam, s.nameEnd(s.pos+1))
	case c == '@' && s.mysql:
		s.emit(tWord, s.variableEnd())
	case isOpByte(c):
		s.operator()
	default:
		s.bracket(c)
		s.emit(tPunct, s.pos+1)
	}
}

// bracket keeps count of the nesting.
func (s *scanner) bracket(c byte) {
	switch c {
	case '(', '[':
		s.open = append(s.open, c)
		s.depth = max(s.depth, len(s.open))
	case ')', ']':
		if len(s.open) > 0 {
			s.open = s.open[:len(s.open)-1]
		}
	}
}

func indexFrom(s string, from int, c byte) int {
	if i := strings.IndexByte(s[from:], c); i >= 0 {
		return from + i
	}
	return len(s)
}

func (s *scanner) lineEnd() int {
	end := indexFrom(s.text, s.pos, '\n')
	if s.postgres { // which ends a comment at a carriage return too
		end = min(end, indexFrom(s.text, s.pos, '\r'))
	}
	return end
}

// commentEnd is the end of the comment at hand, and whether it has one.
func (s *scanner) commentEnd(nests bool) (end int, closed bool) {
	depth := 0
	for i := s.pos; i+1 < len(s.text); i++ {
		switch {
		case s.text[i] == '/' && s.text[i+1] == '*':
			if depth == 0 || nests {
				depth++
			}
			i++
		case s.text[i] == '*' && s.text[i+1] == '/':
			depth--
			i++
			if depth == 0 {
				return i + 1, true
			}
		}
	}
	return len(s.text), false
}

// quotedEnd is the end of what the quote at from opens; a doubled quote is part
// of it, and so is one behind a backslash if escapes.
func quotedEnd(text string, from int, quote byte, escapes bool) int {
	for i := from + 1; i < len(text); i++ {
		switch {
		case escapes && text[i] == '\\':
			i++
		case text[i] == quote && i+1 < len(text) && text[i+1] == quote:
			i++
		case text[i] == quote:
			return i + 1
		}
	}
	return len(text)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isNameStart(c byte) bool { return isWordByte(c) && !isDigit(c) && c != '$' }

func isOpByte(c byte) bool { return opBytes[c] }

var opBytes = func() (is [256]bool) {
	for _, c := range []byte("~!@#^&|`?+-*/%<>=") {
		is[c] = true
	}
	return is
}()

func (s *scanner) numberEnd() int {
	i := s.pos
	for i < len(s.text) && (s.text[i] < 0x80 && isWordByte(s.text[i]) && s.text[i] != '$' || s.text[i] == '.') {
		exp := s.text[i] == 'e' || s.text[i] == 'E'
		i++
		if exp && i+1 < len(s.text) && (s.text[i] == '-' || s.text[i] == '+') && isDigit(s.text[i+1]) {
			i++
		}
		if i+1 < len(s.text) && s.text[i] == '.' && s.text[i+1] == '.' {
			break
		}
	}
	return i
}

func (s *scanner) nameEnd(i int) int {
	for i < len(s.text) && isWordByte(s.text[i]) && s.text[i] != '$' {
		i++
	}
	return i
}

// dollar is $1, $name, $ before a hole, or a dollar-quoted string.
func (s *scanner) dollar() {
	rest := s.text[s.pos+1:]
	switch {
	case rest != "" && isDigit(rest[0]):
		s.native = true
		end := s.pos + 1
		for end < len(s.text) && isDigit(s.text[end]) {
			end++
		}
		s.emit(tParam, end)
	case strings.HasPrefix(rest, Hole):
		s.native = true
		s.emit(tParam, s.pos+1+len(Hole))
	case s.sqlite:
		s.emit(tParam, s.nameEnd(s.pos+1))
	case s.mysql: // a name too, but more likely another style's placeholder
		s.emit(tParam, s.variableEnd())
	default:
		s.emit(tString, s.dollarQuoteEnd())
	}
}

func (s *scanner) dollarQuoteEnd() int {
	tagEnd := s.nameEnd(s.pos+1) + 1
	if tagEnd > len(s.text) || s.text[tagEnd-1] != '$' {
		return s.pos + 1
	}
	tag := s.text[s.pos:tagEnd]
	if i := strings.Index(s.text[tagEnd:], tag); i >= 0 {
		return tagEnd + i + len(tag)
	}
	return len(s.text)
}

// wordOrString is a word, or a string with a prefix: E'..' U&'..' X'..'.
func (s *scanner) wordOrString(c byte) {
	lower := c | 0x20
	quote := s.peek(1)
	switch {
	case quote == '\'' && lower == 'x', quote == '\'' && !s.sqlite && (lower == 'b' || lower == 'n'):
		s.emit(tString, quotedEnd(s.text, s.pos+1, '\'', s.mysql))
		return
	case quote == '\'' && s.postgres && lower == 'e':
		s.emit(tString, quotedEnd(s.text, s.pos+1, '\'', true))
		return
	case s.postgres && lower == 'u' && quote == '&' && (s.peek(2) == '\'' || s.peek(2) == '"'):
		kind := tString
		if s.peek(2) == '"' {
			kind = tQuoted
		}
		s.emit(kind, quotedEnd(s.text, s.pos+2, s.peek(2), false))
		return
	}
	end := s.pos + 1
	for end < len(s.text) && isWordByte(s.text[end]) {
		if s.text[end] == '$' && strings.HasSuffix(s.text[s.pos:end], Hole) {
			break // the hole, and then $1
		}
		end++
	}
	switch w := s.text[s.pos:end]; {
	case len(w) == 4 && strings.EqualFold(w, "case"):
		s.bracket('(')
	case len(w) == 3 && strings.EqualFold(w, "end"):
		s.bracket(')')
	}
	s.emit(tWord, end)
}

// question is ? where it is a placeholder: ?, ?12, bun's ?0 and ?Name, and its
// escapes ?? and \?.
func (s *scanner) question() {
	switch {
	case s.text[s.pos] == '\\', s.peek(1) == '?' && s.postgres:
		s.emit(tEscaped, s.pos+2)
	case s.mysql && s.style != Question:
		s.emit(tParam, s.pos+1)
	case s.sqlite:
		end := s.pos + 1
		for end < len(s.text) && isDigit(s.text[end]) {
			end++
		}
		s.emit(tParam, end)
	default:
		end := s.pos + 1
		if name := s.nameEnd(end); name > end && !glueless[strings.ToLower(s.text[end:name])] && !strings.HasPrefix(s.text[end:], Hole) {
			end = name
		}
		s.emit(tParam, end)
	}
}

// colon is :name, the cast ::, := or the colon of an array slice.
func (s *scanner) colon() {
	next := s.peek(1)
	slice := len(s.open) > 0 && s.open[len(s.open)-1] == '['
	switch {
	case s.sqlite:
		s.emit(tParam, s.nameEnd(s.pos+1))
	case s.mysql && s.labels():
		s.emit(tPunct, s.pos+1)
	case next == ':' && s.style == Named && strings.HasPrefix(s.text[s.pos:], "::::"): // sqlx
		s.emit(tEscaped, s.pos+4)
	case next == ':':
		s.emit(tCast, s.pos+2)
	case isNameStart(next) && !(slice && (s.style != Named || s.afterOperand())):
		s.emit(tParam, s.nameEnd(s.pos+1))
	default:
		s.emit(tPunct, s.pos+1)
	}
}

// operator is a run of operator characters, in PostgreSQL cut before a
// placeholder that the server would take for a part of the operator.
func (s *scanner) operator() {
	end := s.pos + 1
	for end < len(s.text) && isOpByte(s.text[end]) && !s.endsRun(end) {
		end++
	}
	run := s.text[s.pos:end]
	last := len(run) - 1
	kind, mark := tMaybe, false
	switch {
	case !s.postgres:
	case run[last] == '@':
		mark = end < len(s.text) && isNameStart(s.text[end]) && run != "@@"
		if s.style == Named {
			kind = tParam
		} else {
			mark = mark && (plainOps[run[:last]] || last == 0 && !s.afterOperand())
		}
	case run[last] == '?':
		mark = plainOps[run[:last]] || last == 0 && !s.afterOperand()
	}
	if !mark {
		s.emit(tOp, end)
		return
	}
	if last > 0 {
		s.emit(tOp, s.pos+last)
	}
	if run[last] == '@' {
		end = s.nameEnd(end)
	}
	s.emit(kind, end)
}

// endsRun tells whether the operator character at i begins something else.
func (s *scanner) endsRun(i int) bool {
	c := s.text[i]
	switch {
	case startsComment(s.text[i:]), s.running >= 0 && strings.HasPrefix(s.text[i:], "*/"):
		return true
	case s.postgres:
		return c == '?' && s.style == Question
	}
	return c == '?' || c == '@' || c == '`' || c == '#'
}

func startsComment(s string) bool { return strings.HasPrefix(s, "--") || strings.HasPrefix(s, "/*") }

// plainOps are the operators that no operator of PostgreSQL continues with ? or
// @, so that one of those behind them begins a placeholder.
var plainOps = map[string]bool{
	"=": true, "<>": true, "!=": true, "<=": true, ">=": true, "<": true, ">": true,
	"+": true, "-": true, "*": true, "/": true, "%": true, "||": true,
}

// operandNext are the words behind which a value is expected, so that ? or @
// cannot be an infix operator.
var operandNext = wordSet(`all and any between by case distinct else escape from having ilike in is join like limit not
	offset on or returning select set similar some then to using values when where`)

func wordSet(s string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(s) {
		set[w] = true
	}
	return set
}

// afterOperand tells whether the last token ends a value.
func (s *scanner) afterOperand() bool { return s.endsOperand(len(s.toks) - 1) }

// endsOperand tells whether token i ends a value.
func (s scanned) endsOperand(i int) bool {
	if i < 0 {
		return false
	}
	switch s.toks[i].kind {
	case tWord:
		return !operandNext[strings.ToLower(s.at(i))]
	case tQuoted, tString, tNumber, tParam, tMaybe, tSQLC, tHole:
		return true
	case tPunct:
		return s.at(i) == ")" || s.at(i) == "]"
	}
	return false
}

// foldSQLC makes one token of sqlc.arg(x), sqlc.narg(x), sqlc.slice(x) and
// sqlc.embed(t).
func (s *scanner) foldSQLC() {
	out := s.toks[:0]
	for i := 0; i < len(s.toks); i++ {
		t := s.toks[i]
		if s.word(i, "SQLC") && s.punct(i+1, '.') && sqlcMacros[s.at(i+2)] && s.punct(i+3, '(') && s.punct(i+5, ')') {
			t = token{tSQLC, t.start, s.toks[i+5].end}
			i += 5
		}
		out = append(out, t)
	}
	s.toks = out
}

var sqlcMacros = wordSet("arg narg slice embed")

// freeHoles marks the holes that stand alone. One glued to letters or to the dot
// of a qualified name is a part of that name, except where the letters are a
// keyword: VALUES and a hole.
func (s *scanner) freeHoles() {
	out := make([]token, 0, len(s.toks)+4)
	for i, t := range s.toks {
		w := s.text[t.start:t.end]
		if t.kind != tWord || !strings.Contains(w, Hole) {
			out = append(out, t)
			continue
		}
		before := strings.Index(w, Hole)
		after := len(w)
		for rest := w[before:]; strings.HasPrefix(rest, Hole); rest = rest[len(Hole):] {
			after = len(rest) - len(Hole)
		}
		head, tail := w[:before], w[len(w)-after:]
		dotted := before == 0 && s.punct(i-1, '.') && s.toks[i-1].end == t.start ||
			after == 0 && s.punct(i+1, '.') && s.toks[i+1].start == t.end
		switch {
		case dotted, head != "" && !glueless[strings.ToLower(head)], tail != "" && !glueless[strings.ToLower(tail)]:
			out = append(out, t)
			continue
		}
		from, to := t.start+int32(before), t.end-int32(after) // of the hole
		if head != "" {
			out = append(out, token{tWord, t.start, from})
		}
		out = append(out, token{tHole, from, to})
		if tail != "" {
			out = append(out, token{tWord, to, t.end})
		}
	}
	s.toks = out
}

// glueless are the words a hole or ? may stick to without being a part of them.
var glueless = wordSet(`and by from group having in into limit not on or order returning select set values where union`)
