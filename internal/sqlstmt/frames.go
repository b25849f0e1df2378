package sqlstmt

import "strings"

// What a hole leaves open depends on where it lies, not on what the ladder put
// there to make the text parse. So the places are read off the tokens: a frame
// is one statement or sub-select, and within it every hole has a clause.

// clause is a part of a statement.
type clause uint8

const (
	cStart clause = iota // before the verb
	cWith
	cTable   // the table written, and an INSERT's columns
	cColumns // of SELECT
	cFrom
	cSet
	cValues
	cWhere
	cConflict
	cReturning
	cGroup
	cOrder
	cLimit
	cLock
	cDDL // anything in a statement of no interest
)

// clauseNames are for Stmt.Unknown.
var clauseNames = [...]string{
	"the start of the statement", "part of WITH", "part of the table or columns written", "part of the select list",
	"part of FROM", "part of SET", "part of VALUES", "part of WHERE", "part of ON CONFLICT", "part of RETURNING",
	"part of GROUP BY", "part of ORDER BY", "part of LIMIT", "part of the locking clause", "part of the statement",
}

// frame is a statement or a sub-select.
type frame struct {
	start, end int // offsets
	verb       string
	parent     *frame
	within     clause // of the parent
	where      bool   // conditions may be missing or be disabled by an OR
	query      bool   // the same of a SELECT, and its tables and locks
}

// spot is where a hole lies.
type spot struct {
	frame  *frame
	clause clause
	list   bool // inside the brackets of a list of values, which bound it
	paren  bool // inside brackets of any kind
	last   bool // the frame, or its part up to RETURNING or the like, ends behind it
}

// layout is what the tokens of one statement say about its structure.
type layout struct {
	frames []*frame
	spots  map[int]spot // by token
	last   clause       // where the statement ends
}

// bracket is an open parenthesis.
type bracket struct {
	frame *frame // the one outside
	at    clause
	list  bool
	query bool // it opened a frame
	paren bool
}

// lay reads the structure of a statement.
func lay(s scanned) *layout {
	l := &layout{spots: map[int]spot{}}
	top := &frame{start: s.start(), end: len(s.text)}
	l.frames = append(l.frames, top)
	cur, at := top, cStart
	var open []bracket
	list, paren := false, false
	for i, t := range s.toks {
		switch {
		case s.punct(i, '('):
			open = append(open, bracket{cur, at, list, false, paren})
			if beginsQuery(s, i+1) {
				open[len(open)-1].query = true
				cur = &frame{start: int(t.start), end: len(s.text), parent: cur, within: at}
				l.frames = append(l.frames, cur)
				at, list, paren = cStart, false, false
				continue
			}
			list, paren = boundsList(s, i, at, list), true
		case s.punct(i, ')'):
			if len(open) == 0 {
				continue
			}
			b := open[len(open)-1]
			open = open[:len(open)-1]
			if b.query {
				cur.end = int(t.end)
			}
			cur, at, list, paren = b.frame, b.at, b.list, b.paren
		case t.kind == tWord && !paren && !s.punct(i-1, '.'):
			at = cur.keyword(s, i, at)
		}
		if t.kind == tHole || t.kind == tWord && strings.Contains(s.at(i), Hole) {
			l.spots[i] = spot{cur, at, list, paren, !paren && s.endsPart(i+1)}
		}
	}
	l.last = at
	l.mark(s)
	return l
}

// beginsQuery tells whether token i begins a statement that may stand in brackets.
func beginsQuery(s scanned, i int) bool {
	return i < len(s.toks) && s.toks[i].kind == tWord && queryVerbs[strings.ToLower(s.at(i))] && !s.calls(i)
}

// calls tells whether the verb at token i is the name of a function: in MySQL
// VALUES(a) is the proposed value of a column, and INSERT, REPLACE and TRUNCATE
// are functions too.
func (s scanned) calls(i int) bool {
	if !s.mysql || !s.punct(i+1, '(') {
		return false
	}
	if s.word(i, "VALUES") {
		return i > 0 && !s.endsOperand(i-1)
	}
	return functions[strings.ToLower(s.at(i))]
}

var (
	queryVerbs = wordSet(`select with insert update delete merge values`)
	otherVerbs = wordSet(`replace copy truncate create alter drop set begin explain lock pragma load do call`)
	functions  = wordSet(`insert replace truncate`)
)

// listOpeners are the words before a list of values. A hole in one can neither
// hide nor disable a condition, while an argument of a function may be the
// column that a condition is about.
var listOpeners = wordSet(`all any conflict in some values`)

// boundsList tells whether the parenthesis at token i opens such a list, or lies in one.
func boundsList(s scanned, i int, at clause, outer bool) bool {
	return outer || at == cValues || i > 0 && s.toks[i-1].kind == tWord && listOpeners[strings.ToLower(s.at(i-1))]
}

// keyword moves on to the clause that token i opens, if it opens one.
func (f *frame) keyword(s scanned, i int, at clause) clause {
	w := strings.ToUpper(s.at(i))
	if s.calls(i) {
		return at
	}
	switch w {
	case "SELECT", "INSERT", "DELETE", "MERGE", "REPLACE", "COPY", "LOAD", "TRUNCATE", "VALUES", "UPDATE":
		if f.verb == "" {
			f.verb = w
		}
	case "CREATE", "ALTER", "DROP", "GRANT", "COMMENT":
		if f.verb == "" {
			f.verb = w
			return cDDL
		}
	}
	if at == cDDL {
		return at
	}
	switch w {
	case "WITH":
		if at == cStart {
			return cWith
		}
	case "INSERT", "DELETE", "COPY", "TRUNCATE", "MERGE", "INTO":
		return cTable
	case "REPLACE":
		if f.verb == "REPLACE" {
			return cTable
		}
	case "UPDATE":
		switch {
		case f.verb == "UPDATE" && (at == cStart || at == cWith):
			return cTable
		case at == cConflict && s.word(i-1, "KEY"): // ON DUPLICATE KEY UPDATE
			return cSet
		}
	case "SELECT":
		return cColumns
	case "FROM":
		if !s.word(i-1, "DISTINCT") && (at != cTable || f.verb == "SELECT") {
			return cFrom
		}
	case "USING":
		if at == cTable {
			return cFrom
		}
	case "ON":
		if s.beginsConflict(i) {
			return cConflict
		}
		if f.verb == "MERGE" {
			return cWhere
		}
	case "WHEN":
		if f.verb == "MERGE" {
			return cWhere
		}
	case "SET":
		return cSet
	case "VALUES":
		return cValues
	case "VALUE":
		if s.mysql && at == cTable {
			return cValues
		}
	case "WHERE":
		return cWhere
	case "RETURNING":
		return cReturning
	case "GROUP", "HAVING", "WINDOW":
		return cGroup
	case "ORDER":
		return cOrder
	case "LIMIT", "OFFSET", "FETCH":
		return cLimit
	case "FOR":
		if f.verb == "SELECT" && at >= cFrom {
			return cLock
		}
	case "LOCK":
		if s.word(i+1, "IN") {
			return cLock
		}
	}
	return at
}

// beginsConflict tells whether the ON at token i begins the second half of an upsert.
func (s scanned) beginsConflict(i int) bool {
	return s.word(i, "ON") && (s.word(i+1, "CONFLICT") || s.word(i+1, "DUPLICATE"))
}

// endsPart tells whether what a WHERE may stand before begins at token i.
func (s scanned) endsPart(i int) bool {
	if i >= len(s.toks) || s.punct(i, ')') {
		return true
	}
	for _, w := range []string{"RETURNING", "ORDER", "LIMIT"} {
		if s.word(i, w) {
			return true
		}
	}
	return s.beginsConflict(i)
}

// mark says of every frame what its holes leave open.
func (l *layout) mark(s scanned) {
	for i, p := range l.spots {
		glued := s.toks[i].kind == tWord
		if glued && !(p.last && strings.HasSuffix(s.at(i), Hole)) || p.list {
			continue // a part of a name, or a value among others
		}
		f := p.frame
		// In or behind WHERE, where one could follow, or where OR REPLACE could stand.
		where := p.clause == cWhere || p.clause == cConflict || p.clause == cStart || s.word(i+1, "INTO") ||
			p.last && (p.clause <= cWhere || p.clause == cGroup) || s.mayJoin(i, p)
		query := p.clause >= cFrom && p.clause != cSet && p.clause != cValues || p.last
		f.where = f.where || where
		f.query = f.query || query
		// What a sub-select in a condition leaves open, the condition does.
		for ; (where || query) && f.parent != nil; f = f.parent {
			where = f.within == cWhere
			query = where || f.within == cFrom
			f.parent.where = f.parent.where || where
			f.parent.query = f.parent.query || query
		}
	}
}

// mayJoin tells whether the hole at token i may be a JOIN with conditions of its
// own, which in MySQL can stand behind the table that is written.
func (s scanned) mayJoin(i int, p spot) bool {
	return s.mysql && p.clause == cTable && (p.frame.verb == "UPDATE" || p.frame.verb == "DELETE") && s.followsValue(i)
}

// followsValue tells whether a value or a name ends before token i.
func (s scanned) followsValue(i int) bool {
	return s.endsOperand(i-1) && !clauseWords[strings.ToLower(s.at(i-1))]
}

// at is the innermost frame around the offset.
func (l *layout) at(off int) *frame {
	in := l.frames[0]
	for _, f := range l.frames {
		if f.start <= off && off < f.end {
			in = f // later ones lie deeper
		}
	}
	return in
}

// unknown lists what the holes leave open, for a person.
func (l *layout) unknown(s scanned) []string {
	var out []string
	seen := map[string]bool{}
	add := func(what string) {
		if !seen[what] {
			seen[what] = true
			out = append(out, what)
		}
	}
	for i := range s.toks {
		p, ok := l.spots[i]
		switch {
		case !ok && s.toks[i].kind == tQuoted && strings.Contains(s.at(i), Hole):
			add("part of a name")
		case !ok:
		case s.toks[i].kind == tWord:
			add("part of a name")
		case p.clause == cStart && i > 0:
			add(clauseNames[cDDL])
		default:
			add(clauseNames[p.clause])
		}
		if ok && i == len(s.toks)-1 && p.clause != cReturning {
			add("the end of the statement")
		}
	}
	return out
}

// binds tells whether the hole at token i may hold placeholders. The name of a
// table or a list of columns does not.
func (l *layout) binds(s scanned, i int) bool {
	switch p := l.spots[i]; p.clause {
	case cStart:
		return !s.word(i+1, "INTO")
	case cTable:
		return p.last || s.mayJoin(i, p)
	case cSet:
		return i+1 >= len(s.toks) || s.at(i+1) != "=" // else it is a column
	case cColumns, cReturning, cGroup, cOrder:
		return false
	case cFrom:
		return !s.word(i-1, "FROM") && !s.word(i-1, "JOIN") && !s.punct(i-1, ',')
	}
	return true
}
