package sqlstmt

import "strings"

// split cuts a scanned text into its statements, empty ones left out.
func (s scanned) split() []scanned {
	var out []scanned
	first, depth, body := 0, 0, 0
	cut := func(last int) {
		if last > first {
			out = append(out, scanned{lexis: s.lexis, text: s.text, toks: s.toks[first:last]})
		}
		first, depth, body = last+1, 0, 0
	}
	for i := range s.toks {
		switch {
		case s.punct(i, '('):
			depth++
		case s.punct(i, ')'):
			depth--
		case s.punct(i, ';') && depth <= 0 && body == 0:
			cut(i)
		case s.opensBody(first, i), body > 0 && s.word(i, "CASE") && !s.word(i-1, "END"):
			body++
		case body > 0 && s.word(i, "END") && !s.endsBlock(i+1):
			body--
		}
	}
	cut(len(s.toks))
	return out
}

// opensBody tells whether token i begins a body of statements, which goes to its
// END: of a trigger, in MySQL of any routine, and BEGIN ATOMIC of a function in
// PostgreSQL.
func (s scanned) opensBody(first, i int) bool {
	if !s.word(i, "BEGIN") || !s.word(first, "CREATE") {
		return false
	}
	if s.word(i+1, "ATOMIC") {
		return true
	}
	for j := first + 1; j < min(first+10, i) && !s.punct(j, '('); j++ { // DEFINER and the like may stand before it
		if s.word(j, "TRIGGER") || s.mysql && s.toks[j].kind == tWord && routines[strings.ToLower(s.at(j))] {
			return true
		}
	}
	return false
}

var routines = wordSet(`procedure function event`)

// endsBlock tells whether token i says what an END before it ends, if that is
// neither a body nor a CASE.
func (s scanned) endsBlock(i int) bool {
	return s.mysql && i < len(s.toks) && s.toks[i].kind == tWord && blocks[strings.ToLower(s.at(i))]
}

var blocks = wordSet(`if loop repeat while for`)

// start and end are where the statement lies in the text.
func (s scanned) start() int { return int(s.toks[0].start) }

func (s scanned) end() int { return int(s.toks[len(s.toks)-1].end) }
