package sqlstmt

import (
	"strconv"
	"strings"
)

// binding says what the parameters and the holes of a normalised text stand for.
type binding struct {
	params []param
	first  int   // the number that stands for params[0]
	marks  []int // see template
	holes  []span
	// base is the count of the parameters in the statements before, where each
	// is parsed by itself by a parser that counts from 1.
	base int
	// shifted is the offset of the first hole that may bind parameters of its own,
	// from where on a bare ? has no known number; 0 if there is none.
	shifted int
}

// fill takes over where the holes of a template came to lie.
func (b *binding) fill(t template, f filled) {
	b.holes = f.holes
	if t.shifting < len(t.holes) {
		b.shifted = f.holes[t.shifting].start + 1
	}
}

// param is what a placeholder stands for.
type param struct {
	n    int    // see Expr.N
	name string // of :name and @name
	open bool   // it may be anything
}

type span struct{ start, end int }

// bound is how many parameters SQLite counts in the statement.
func (s scanned) bound() int {
	n := 0
	seen := map[string]bool{}
	for i, t := range s.toks {
		w := s.at(i)
		if t.kind != tParam || w != "?" && seen[w] {
			continue
		}
		seen[w] = true
		if k, ok := number(w[1:]); w[0] == '?' && ok {
			n = max(n, k)
			continue
		}
		n++
	}
	return n
}

// paramBase is above every number PostgreSQL allows: where a text has numbers of
// its own, the placeholders rewritten count from here.
const paramBase = 1 << 16

// hole tells whether the offset lies in what was put for a hole.
func (b *binding) hole(at int) bool {
	for _, h := range b.holes {
		if h.start <= at && at < h.end {
			return true
		}
	}
	return false
}

// numbering gives placeholders their numbers, in the order a driver binds them:
// a ? by its position, a name by its first appearance.
type numbering struct {
	last  int
	names map[string]int
}

func (n *numbering) next() int {
	n.last++
	return n.last
}

func (n *numbering) named(name string) int {
	if n.names == nil {
		n.names = map[string]int{}
	}
	if n.names[name] == 0 {
		n.names[name] = n.next()
	}
	return n.names[name]
}

// template is one statement with its placeholders in the form the parser wants,
// cut at its holes.
type template struct {
	parts  []string // one more than holes
	places []place
	holes  []int // token indices
	params []param
	first  int   // the number put for params[0]
	marks  []int // where the parameters are in a template without holes, if they have no numbers
	src    scanned
	// shifting is the index of the first hole that may bind parameters, len(holes) if none.
	shifting int
}

// place maps an offset of a part to one of the text as given.
type place struct{ part, off, orig int }

// normalise makes a template of a statement. counts goes on through a script:
// drivers number over all of its statements. binds is asked about holes; nil: the
// text has none, and no offset in it will be looked for.
func normalise(s scanned, counts *numbering, binds func(tok int) bool) template {
	t := template{src: s, shifting: -1, first: 1}
	if s.sqlite {
		t.first = paramBase
	}
	var edits []edit
	if s.maria {
		edits = s.asMySQL()
	}
	params := 0
	for i, tok := range s.toks {
		if tok.kind != tParam && tok.kind != tMaybe {
			continue
		}
		if params++; s.at(i)[0] == '$' && !s.mysql {
			t.first = paramBase
		}
	}
	t.params = make([]param, 0, params)
	if s.mysql {
		t.marks = make([]int, 0, params)
	}
	var b strings.Builder
	if s.count(tHole) == 0 {
		b.Grow(s.end() - s.start() + params*len(" $65536 "))
	}
	var digits [len("$65536")]byte
	pos := s.start()
	placed := func(orig int) {
		if binds != nil {
			t.places = append(t.places, place{len(t.parts), b.Len(), orig})
		}
	}
	copyTo := func(end int) {
		if end > pos {
			placed(pos)
			b.WriteString(s.text[pos:end])
		}
	}
	for i, tok := range s.toks {
		start, end := int(tok.start), int(tok.end)
		instead, native := "", 0
		if len(edits) > 0 && edits[0].tok == i {
			instead, edits = edits[0].put, edits[1:]
		}
		switch tok.kind {
		case tHole:
			copyTo(start)
			t.parts = append(t.parts, b.String())
			b.Reset()
			if t.shifting < 0 && binds(i) {
				t.shifting = len(t.holes)
			}
			t.holes = append(t.holes, i)
			pos = end
			continue
		case tEscaped:
			instead = "?"
			if s.text[start] == ':' {
				instead = "::"
			}
		case tSQLC:
			instead = sqlcText(s.at(i))
			if strings.HasPrefix(instead, ":") && !s.sqlite {
				native = t.add(placeholder(instead, counts, false))
			}
		case tParam, tMaybe:
			if s.sqlite && s.at(i) != "$"+Hole {
				continue // its parser knows them all
			}
			native = t.rewrite(s.at(i), tok.kind, counts)
		}
		if instead == "" && native == 0 {
			continue
		}
		copyTo(start)
		pos = end
		placed(start)
		b.WriteByte(' ')
		switch {
		case native == 0:
			b.WriteString(instead)
		case s.mysql: // which has no numbers
			t.marks = append(t.marks, b.Len())
			b.WriteByte('?')
		default:
			b.Write(strconv.AppendInt(append(digits[:0], '$'), int64(native), 10))
		}
		b.WriteByte(' ')
	}
	copyTo(s.end())
	t.parts = append(t.parts, b.String())
	if t.shifting < 0 {
		t.shifting = len(t.holes)
	}
	return t
}

// rewrite returns the native number of the placeholder w, 0 if it has it already.
func (t *template) rewrite(w string, kind tokenKind, counts *numbering) int {
	if kind == tMaybe || t.src.mysql && w[0] == '$' { // which begins a name there
		return t.add(param{open: true})
	}
	if n, ok := number(w[1:]); w[0] == '$' && ok && n < paramBase {
		return 0
	}
	return t.add(placeholder(w, counts, t.shifting >= 0))
}

func (t *template) add(p param) int {
	t.params = append(t.params, p)
	return t.first + len(t.params) - 1
}

// placeholder is the parameter w stands for; shifted: a hole before it may bind some.
func placeholder(w string, counts *numbering, shifted bool) param {
	name := w[1:]
	n, ok := number(name)
	switch {
	case w[0] == '$' && ok:
		return param{n: n}
	case w[0] == '$': // and a hole
		return param{}
	case w[0] == '?' && name == "":
		if n := counts.next(); !shifted {
			return param{n: n}
		}
		return param{}
	case w[0] == '?' && ok: // bun counts from 0
		return param{n: n + 1}
	case w[0] == '?': // bun's ?TableName may be anything
		return param{open: true}
	case strings.Contains(name, Hole):
		return param{name: name}
	}
	return param{n: counts.named(name), name: name}
}

func number(s string) (int, bool) {
	if s == "" || !isDigit(s[0]) {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}

// sqlcText is what sqlc makes of one of its macros.
func sqlcText(w string) string {
	open := strings.IndexByte(w, '(')
	arg := strings.Trim(w[open+1:len(w)-1], " \t\r\n'\"")
	if strings.Contains(w[:open], "embed") {
		return arg + ".*"
	}
	return ":" + arg
}
