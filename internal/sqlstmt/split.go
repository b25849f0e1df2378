package sqlstmt

// split cuts a scanned text into its statements, empty ones left out.
func (s scanned) split() []scanned {
	var out []scanned
	first, depth, body := 0, 0, 0
	cut := func(last int) {
		if last > first {
			out = append(out, scanned{text: s.text, toks: s.toks[first:last]})
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
		case s.opensBody(first, i), body > 0 && s.word(i, "CASE"):
			body++
		case body > 0 && s.word(i, "END"):
			body--
		}
	}
	cut(len(s.toks))
	return out
}

// opensBody tells whether token i begins a body of statements, which goes to its
// END: of a trigger in SQLite, and BEGIN ATOMIC of a function in PostgreSQL.
func (s scanned) opensBody(first, i int) bool {
	if !s.word(i, "BEGIN") || !s.word(first, "CREATE") {
		return false
	}
	if s.word(i+1, "ATOMIC") {
		return true
	}
	for j := first + 1; j < min(first+3, i); j++ {
		if s.word(j, "TRIGGER") {
			return true
		}
	}
	return false
}

// start and end are where the statement lies in the text.
func (s scanned) start() int { return int(s.toks[0].start) }

func (s scanned) end() int { return int(s.toks[len(s.toks)-1].end) }
