package sqlstmt

import "fmt"

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

// Parse reads text, which may hold several statements and holes, in dialect d.
// It never panics; what it does not understand is said in the result.
func Parse(text string, d Dialect, o Options) Script {
	switch d {
	case Postgres:
		return parseWith(postgres{}, text, d, o)
	}
	return Script{Dialect: d, Err: d.String() + " is not supported yet"}
}

// engine is a parser of one dialect.
type engine interface {
	parse(text string) (tree, *syntaxError)
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

func parseWith(e engine, text string, d Dialect, o Options) Script {
	t, err := safely(e, text)
	if err != nil {
		return Script{Dialect: d, Err: err.msg}
	}
	s := Script{Dialect: d}
	for i := range t.len() {
		var st Stmt
		r := &reader{text: text, stmt: &st}
		t.read(i, r)
		r.finish()
		s.Stmts = append(s.Stmts, st)
	}
	return s
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
