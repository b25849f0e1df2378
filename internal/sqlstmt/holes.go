package sqlstmt

import (
	"slices"
	"sort"
	"strings"
)

// A text with holes is parsed by putting something for each of them and trying.
// A candidate holds the hole itself where an identifier goes (to all parsers it
// is a letter), so that what it became shows in the tree.

// ladder is tried in order after what the place of the hole suggests.
var ladder = holeRungs(`□ | | AND □ | WHERE □ | , □ = □ | □ = □ | (□) | VALUES (□) | ORDER BY □ | 1 | = | SELECT □ | DESC |
	(□) VALUES (□) | SET □ = □ | , □ | , | □ AND | □, | □ ON □ | □ AS (SELECT 1) | FROM □ | SELECT □ FROM □ | WHEN □ THEN □`)

func holeRungs(s string) []string {
	rungs := strings.Split(strings.ReplaceAll(s, "□", Hole), "|")
	for i := range rungs {
		rungs[i] = " " + strings.TrimSpace(rungs[i]) + " "
	}
	return rungs
}

// hints are tried before the ladder. The first whose conditions hold is taken.
var hints = []struct {
	in    func(c context) bool
	rungs []string
}{
	{func(c context) bool { return c.first && c.next == "INTO" }, holeRungs(`INSERT`)},
	{func(c context) bool { return c.first }, holeRungs(``)},
	{func(c context) bool { return c.afterOperand && c.beforeOperand }, holeRungs(`= | , | AND □ AND`)},
	{func(c context) bool { return c.list && c.afterOperand }, holeRungs(`, □`)},
	{func(c context) bool { return c.afterOperator && c.beforeOperand }, holeRungs(`□ +`)},
	{func(c context) bool { return c.prev == "CONFLICT" }, holeRungs(`(□) DO UPDATE SET □ = □ WHERE □`)},
	{func(c context) bool { return c.prev == "DO" }, holeRungs(`UPDATE SET □ = □ WHERE □`)},
	{func(c context) bool { return c.prev == "VALUES" || c.prev == "IN" }, holeRungs(`(□)`)},
	{func(c context) bool { return c.prev == "DUPLICATE" }, holeRungs(`KEY UPDATE □ = □`)},
	{func(c context) bool { return c.prev == "KEY" && c.clause == cConflict }, holeRungs(`UPDATE □ = □`)},
	{func(c context) bool { return c.prev == "FOR" }, holeRungs(`KEY SHARE | SHARE`)},
	{func(c context) bool { return c.prev == "LIMIT" }, holeRungs(`□ | 1`)},
	{func(c context) bool { return c.clause == cSet && c.afterOperand }, holeRungs(`, □ = □`)},
	{func(c context) bool { return c.clause == cSet && !c.paren && c.prev != "=" && c.next != "=" }, holeRungs(`□ = □ | □ = □,`)},
	{func(c context) bool { return c.clause == cWhere && c.afterOperand }, holeRungs(`AND □`)},
	{func(c context) bool { return c.clause == cWhere && c.beforeOperand }, holeRungs(`□ AND`)},
	{func(c context) bool { return c.clause == cConflict && c.afterOperand }, holeRungs(`DO UPDATE SET □ = □ WHERE □`)},
	{func(c context) bool { return c.clause == cValues && c.afterOperand }, holeRungs(`, (□) | , □`)},
	{func(c context) bool { return c.clause == cValues && c.prev == "," }, holeRungs(`(□)`)},
	{func(c context) bool {
		return (c.clause == cColumns || c.clause == cReturning) && c.afterOperand
	}, holeRungs(`, □`)},
	{func(c context) bool { return c.clause == cTable && c.afterOperand && c.verb == "INSERT" }, holeRungs(`(□) | (□) VALUES (□)`)},
	{func(c context) bool { return c.clause == cTable && c.afterOperand && c.verb == "UPDATE" }, holeRungs(`| SET □ = □`)},
	{func(c context) bool {
		return c.last && c.afterOperand && (c.clause == cTable || c.clause == cFrom) && c.verb != "INSERT"
	}, holeRungs(`WHERE □`)},
	{func(c context) bool { return c.afterOperand }, holeRungs(``)},
}

// context is what surrounds a hole.
type context struct {
	prev, next                  string // the tokens, in upper case
	clause                      clause
	verb                        string
	first, last, list, paren    bool
	afterOperand, beforeOperand bool
	afterOperator               bool
}

func surroundings(s scanned, l *layout, i int) context {
	p := l.spots[i]
	return context{
		prev: strings.ToUpper(s.at(i - 1)), next: strings.ToUpper(s.at(i + 1)),
		clause: p.clause, verb: p.frame.verb,
		first: i == 0, last: p.last, list: p.list, paren: p.paren,
		afterOperand:  s.followsValue(i),
		beforeOperand: s.beginsOperand(i + 1),
		afterOperator: i > 0 && s.toks[i-1].kind == tOp,
	}
}

// clauseWords end no operand either, though a value need not follow them.
var clauseWords = wordSet(`as asc conflict cross delete desc do exists for full inner insert into lateral left natural
	nothing only right share union update values with`)

// beginsOperand tells whether token i begins a value.
func (s scanned) beginsOperand(i int) bool {
	if i >= len(s.toks) {
		return false
	}
	switch s.toks[i].kind {
	case tWord:
		w := strings.ToLower(s.at(i))
		return !operandNext[w] && !clauseWords[w] && !followers[w]
	case tQuoted, tString, tNumber, tParam, tMaybe, tSQLC:
		return true
	}
	return false
}

// followers are the words that may come behind a value.
var followers = wordSet(`end except fetch group intersect order window`)

func candidates(c context) []string {
	for _, h := range hints {
		if h.in(c) {
			out := slices.Clone(h.rungs)
			for _, r := range ladder {
				if !slices.Contains(out, r) {
					out = append(out, r)
				}
			}
			return out
		}
	}
	return ladder
}

// maxTries bounds the attempts, and maxTried the bytes parsed by all of them.
const (
	maxHoles = 64
	maxTries = 200
	maxTried = 1 << 20
)

// climb looks for candidates with which the statement parses. Where the parser
// stopped says which hole to vary: a later one cannot have been the reason.
func climb(e engine, t template, l *layout) (tree, filled, *syntaxError) {
	if len(t.holes) > maxHoles {
		return nil, filled{}, &syntaxError{"too many holes", -1}
	}
	cands := make([][]string, len(t.holes))
	for i, tok := range t.holes {
		cands[i] = candidates(surroundings(t.src, l, tok))
	}
	choice := make([]int, len(t.holes))
	tried := 0
	for try := 0; ; try++ {
		f := t.fill(func(i int) string { return cands[i][choice[i]] })
		tree, err := safely(e, f.text)
		if err == nil {
			return tree, f, nil
		}
		tried += len(f.text)
		k := len(t.holes) - 1
		for k >= 0 && err.at >= 0 && f.holes[k].start > err.at {
			k--
		}
		for k >= 0 && choice[k] == len(cands[k])-1 {
			k--
		}
		if k < 0 || try == maxTries || tried > maxTried {
			return nil, f, err
		}
		choice[k]++
		clear(choice[k+1:])
	}
}

// filled is a template with something in its holes.
type filled struct {
	text   string
	holes  []span
	places []place // offsets of the text, and of the one it was made from
}

// fill puts candidates into the holes.
func (t template) fill(pick func(hole int) string) filled {
	var b strings.Builder
	f := filled{}
	starts := make([]int, len(t.parts))
	for i, part := range t.parts {
		starts[i] = b.Len()
		b.WriteString(part)
		if i < len(t.holes) {
			at := b.Len()
			b.WriteString(pick(i))
			f.holes = append(f.holes, span{at, b.Len()})
		}
	}
	f.text = b.String()
	for _, p := range t.places {
		f.places = append(f.places, place{off: starts[p.part] + p.off, orig: p.orig})
	}
	return f
}

// origin maps an offset of the filled text back.
func (f filled) origin(off int) int {
	i := sort.Search(len(f.places), func(i int) bool { return f.places[i].off > off }) - 1
	if i < 0 {
		return 0
	}
	return f.places[i].orig + off - f.places[i].off
}

// unreadable tells whether so much of the statement is out of sight that any
// reading would be a guess: a hole stands for its verb.
func (t template) unreadable(l *layout) bool {
	if len(t.holes) == 0 {
		return false
	}
	if l.last == cWith { // WITH ... and then a hole
		return true
	}
	return t.holes[0] == 0 && !t.src.word(1, "INTO") && !beginsQuery(t.src, 1) && !otherVerbs[strings.ToLower(t.src.at(1))]
}

// leaveOpen marks what the holes make uncertain.
func (r *reader) leaveOpen(l *layout, f filled) {
	for i := range r.stmt.Writes {
		w := &r.stmt.Writes[i]
		w.WhereUnknown = l.at(f.origin(r.writes[i])).where || w.comparesHole()
		w.Table.Alias = known(w.Table.Alias)
		forgetAliases(w.From, w.Derived)
	}
	for _, q := range r.reads {
		fr := l.at(f.origin(q.at))
		q.val.Unknown = fr.query || mentionsHole(q.val.Where)
		for _, t := range q.val.From {
			q.val.Unknown = q.val.Unknown || t.Dynamic
		}
		forgetAliases(q.val.From, q.val.Derived)
	}
}

func forgetAliases(lists ...[]Table) {
	for _, l := range lists {
		for i := range l {
			l[i].Alias = known(l[i].Alias)
		}
	}
}

// known is an alias, unless the parser took a hole for one.
func known(alias string) string {
	if alias == Hole {
		return ""
	}
	return alias
}
