package sqlstmt

import (
	"fmt"
	"strings"
)

// The parsers take time and stack that grow faster than the text: 20000 nested
// parentheses cost oliphant 9.4 s. A statement beyond these limits is not read.
const (
	maxText  = 64 << 10
	maxDepth = 200
	// maxRetries bounds the places, nested in one another, where MySQL's parser reads
	// what follows twice or three times to find out what it is: 16 INTERVALs cost it
	// 105 s.
	maxRetries = 6
	// maxDigits is how many a number may have for MySQL. Its parser panics on a few more.
	maxDigits = 65
)

// Refused says why text must not be given to a parser of d, "" if it may: it would
// cost too much, or the parser would stumble.
func Refused(text string, d Dialect) string {
	e, ok := engines[d]
	if !ok {
		return ""
	}
	return refuse(text, e.lexis(), Native)
}

// refuse says why text must not be given to a parser, "" if it may.
func refuse(text string, l lexis, style Style) string {
	if len(text) > maxText {
		return fmt.Sprintf("the text is longer than %d KiB", maxText>>10)
	}
	if strings.IndexByte(text, 0) >= 0 {
		return "the text holds a NUL byte, where the parsers would stop" // and not say so
	}
	if l.mysql && longNumber(text) {
		return fmt.Sprintf("a number has more than %d digits", maxDigits)
	}
	// Most texts are too short to be too deep, or open too little.
	deep := len(text) > maxDepth && openers(text) > maxDepth
	if !deep && !(l.mysql && mayRetry(text)) {
		return ""
	}
	s := scan(text, l, style)
	switch {
	case s.depth > maxDepth:
		return fmt.Sprintf("the text is nested deeper than %d", maxDepth)
	case l.mysql && s.retries() > maxRetries:
		return fmt.Sprintf("more than %d doubled brackets, INTERVALs or the like are nested", maxRetries)
	}
	return ""
}

// longNumber tells whether text holds a number, or what looks like one, of more
// digits than allowed.
func longNumber(text string) bool {
	const step = maxDigits + 1 // one with its point is longer than that
	numeric := func(i int) bool { return isDigit(text[i]) || text[i] == '.' }
	for i := step; i < len(text); i += step {
		start, end := i, i
		for start > 0 && end-start <= step && numeric(start-1) {
			start--
		}
		for end < len(text) && end-start <= step && numeric(end) {
			end++
		}
		if end-start > step {
			return true
		}
	}
	return false
}

// mayRetry tells whether text may have more such places than allowed: each has two
// brackets, or the v of INTERVAL or JSON_VALUE.
func mayRetry(text string) bool {
	return strings.Count(text, "(") > 2*maxRetries || strings.Count(text, "v")+strings.Count(text, "V") > maxRetries
}

// retries is how many places where the parser tries more than one reading are
// nested at most: a doubled bracket before a query, JSON_VALUE, and INTERVAL up to
// its unit.
func (s scanned) retries() int {
	deepest, nested, intervals := 0, 0, 0
	var open []int // the brackets: 1 if it is such a place
	for i := range s.toks {
		switch {
		case s.punct(i, '('):
			place := 0
			if s.doubled(i) || s.word(i-1, "JSON_VALUE") {
				place = 1
			}
			open = append(open, place)
			nested += place
		case s.punct(i, ')') && len(open) > 0:
			nested -= open[len(open)-1]
			open = open[:len(open)-1]
		case s.punct(i, ';'):
			open, nested, intervals = open[:0], 0, 0
		case s.word(i, "INTERVAL"):
			intervals++
		case intervals > 0 && s.toks[i].kind == tWord && units[strings.ToLower(s.at(i))]:
			intervals--
		}
		deepest = max(deepest, nested+intervals)
	}
	return deepest
}

// doubled tells whether the bracket at token i is followed by others and a query.
func (s scanned) doubled(i int) bool {
	if !s.punct(i+1, '(') {
		return false
	}
	for s.punct(i, '(') {
		i++
	}
	return i < len(s.toks) && s.toks[i].kind == tWord && queryStarts[strings.ToLower(s.at(i))]
}

var (
	queryStarts = wordSet(`select with table values`)
	units       = wordSet(`microsecond second minute hour day week month quarter year second_microsecond
		minute_microsecond minute_second hour_microsecond hour_second hour_minute day_microsecond day_second
		day_minute day_hour year_month`)
)

// openers counts what could open a level of nesting.
func openers(text string) int {
	n := 0
	for i := range len(text) {
		switch text[i] {
		case '(', '[':
			n++
		case 'c', 'C':
			if i+4 <= len(text) && strings.EqualFold(text[i:i+4], "case") {
				n++
			}
		}
	}
	return n
}
