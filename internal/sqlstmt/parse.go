package sqlstmt

import (
	"fmt"
	"strings"
	"sync"
)

// Style says what a placeholder looks like where the text is used.
type Style int

// The placeholder styles. Native is the dialect's own; Question is "?" (also
// where the dialect is PostgreSQL: sqlx.Rebind, gorm, bun, squirrel); Named is
// ":name" and "@name".
const (
	Native Style = iota
	Question
	Named
)

// Options modify [Parse].
type Options struct{ Placeholders Style }

var engines = map[Dialect]engine{
	Postgres: postgres{}, SQLite: sqlite{}, MySQL: mysql{}, MariaDB: mysql{maria: true},
}

// quoting are the engines for which "x" is a name where it is a string to the
// first. The text does not say which the server does; they are asked about what
// makes no sense to the first.
var quoting = map[Dialect]engine{MySQL: mysql{ansi: true}, MariaDB: mysql{maria: true, ansi: true}}

// guesses are the dialects tried where none is known, in this order.
var guesses = []Dialect{Postgres, SQLite, MySQL, MariaDB}

// Parse reads text, which may hold several statements and holes, in dialect d.
// It never panics; what it does not understand is said in the result.
func Parse(text string, d Dialect, o Options) Script {
	if d == Unknown {
		return guess(text, o)
	}
	e, ok := engines[d]
	if !ok {
		return Script{Dialect: d, Err: "there is no such dialect"}
	}
	s := parseBy(e, text, d, o)
	if s.Err == "" || quoting[d] == nil || strings.IndexByte(text, '"') < 0 {
		return s
	}
	if again := parseBy(quoting[d], text, d, o); again.Err == "" {
		return again
	}
	return s
}

// guess is the text in the first dialect that understands it.
func guess(text string, o Options) Script {
	var first Script
	for i, d := range guesses {
		if d == MariaDB && !mayBeMaria(text) {
			continue // MySQL's turn was before
		}
		s := Parse(text, d, o)
		if s.Err == "" {
			return s
		}
		if i == 0 {
			first = s
		}
	}
	first.Dialect = Unknown
	return first
}

func parseBy(e engine, text string, d Dialect, o Options) Script {
	if why := refuse(text, e.lexis(), o.Placeholders); why != "" {
		return Script{Dialect: d, Err: why}
	}
	p := script{engine: e, text: text, style: o.Placeholders}
	p.out.Dialect = d
	p.parse()
	return p.out
}

// engine is a parser of one dialect.
type engine interface {
	lexis() lexis
	parse(text string) (tree, *syntaxError)
	// reads tells whether its parser knows every placeholder in text, and all
	// else the scanner would change.
	reads(text string, style Style) bool
}

// tree is what an engine made of a text: some statements.
type tree interface {
	len() int
	read(i int, r *reader)
}

// syntaxError is why a text did not parse and where, in bytes; -1 if unknown.
type syntaxError struct {
	msg string
	at  int
}

// safely parses and makes a panic of the parser an error.
func safely(e engine, text string) (t tree, err *syntaxError) {
	defer func() {
		if p := recover(); p != nil {
			t, err = nil, &syntaxError{msg: fmt.Sprintf("the parser failed: %v", p), at: -1}
		}
	}()
	return e.parse(text)
}

// script is a text being parsed.
type script struct {
	engine engine
	text   string
	style  Style
	counts numbering
	temps  map[string]bool
	out    Script
	failed int
}

func (p *script) parse() {
	holes := strings.Contains(p.text, Hole)
	plain := p.engine.reads(p.text, p.style)
	if !holes && plain {
		if t, err := safely(p.engine, p.text); err == nil {
			p.readAll(t, p.text, binding{})
			return
		}
	}
	s := scan(p.text, p.engine.lexis(), p.style)
	if !holes && !plain && len(s.toks) > 0 && s.count(tHole) == 0 {
		counts := p.counts
		n := normalise(s, &counts, nil)
		if t, err := safely(p.engine, n.parts[0]); err == nil {
			p.readAll(t, n.parts[0], binding{params: n.params, first: n.first, marks: n.marks})
			return
		}
	}
	for i, stmt := range s.split() {
		p.one(stmt, i+1)
	}
	if p.failed > 1 {
		p.out.Err += fmt.Sprintf(" (and %d more)", p.failed-1)
	}
}

func (p *script) readAll(t tree, text string, b binding) {
	p.out.Stmts = make([]Stmt, 0, t.len())
	r := readers.Get().(*reader)
	for i := range t.len() {
		r.text, r.bind = text, b
		p.read(t, i, r)
		clear(r.funcs)
		*r = reader{funcs: r.funcs[:0]}
	}
	readers.Put(r)
}

// readers are used again and zero until then: nearly all texts are read with one, and it is as large
// as what it reads from many.
var readers = sync.Pool{New: func() any { return new(reader) }}

// read adds statement i of a tree to the result. A tree of a shape the reader
// does not expect is a statement not understood.
func (p *script) read(t tree, i int, r *reader) (st *Stmt) {
	if n := len(p.out.Stmts); n < cap(p.out.Stmts) {
		p.out.Stmts = p.out.Stmts[:n+1] // it is zero
	} else {
		p.out.Stmts = append(p.out.Stmts, Stmt{})
	}
	st = &p.out.Stmts[len(p.out.Stmts)-1]
	r.stmt, r.temps = st, p.temps
	defer func() {
		if e := recover(); e != nil {
			*st = Stmt{Unknown: []string{"the whole statement"}}
			r.writes, r.reads = nil, nil
			p.note(fmt.Sprintf("statement %d: its tree: %v", len(p.out.Stmts), e))
		}
	}()
	t.read(i, r)
	if r.misfit != "" {
		*st = Stmt{Unknown: []string{"the whole statement"}}
		p.note(fmt.Sprintf("statement %d: %s", len(p.out.Stmts), r.misfit))
		r.writes, r.reads = nil, nil
		return st
	}
	r.finish()
	p.temps = r.temps
	return st
}

// note keeps the first of the reasons why something is not understood.
func (p *script) note(why string) {
	if p.failed++; p.failed == 1 {
		p.out.Err = why
	}
}

// one parses statement number n by itself.
func (p *script) one(s scanned, n int) {
	l := lay(s)
	b := binding{}
	if s.sqlite {
		b.base = p.counts.last
		p.counts.last += s.bound()
	}
	t := normalise(s, &p.counts, func(tok int) bool { return l.binds(s, tok) })
	b.params, b.first = t.params, t.first
	if t.unreadable(l) {
		p.fail(n, "a hole stands for its verb", s, l)
		return
	}
	tr, f, err := climb(p.engine, t, l)
	if err != nil {
		p.fail(n, err.msg, s, l)
		return
	}
	b.fill(t, f)
	for i := range tr.len() {
		r := &reader{text: f.text, bind: b, holes: strings.Contains(s.text[s.start():s.end()], Hole)}
		st := p.read(tr, i, r)
		if r.holes {
			r.leaveOpen(l, f)
			st.Unknown = append(st.Unknown, l.unknown(s)...)
		}
	}
}

// fail notes that statement n is not understood.
func (p *script) fail(n int, why string, s scanned, l *layout) {
	st := Stmt{Unknown: l.unknown(s)}
	if len(st.Unknown) == 0 {
		st.Unknown = []string{"the whole statement"}
	}
	p.out.Stmts = append(p.out.Stmts, st)
	p.note(fmt.Sprintf("statement %d: %s", n, strings.ReplaceAll(why, Hole, "...")))
}
