package schema

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/fencelint/fence/internal/config"
	"github.com/fencelint/fence/internal/sqlstmt"
)

const (
	maxFile      = 8 << 20
	maxStatement = 64 << 10
	// maxDepth bounds nested parentheses: the PostgreSQL parser needs seconds
	// for thousands of them.
	maxDepth = 200
)

// reader applies sources to a catalog, statement by statement.
type reader struct {
	catalog
	dialect sqlstmt.Dialect
	guess   sqlstmt.Dialect // dialect, or what the file looks like if that is unknown
	notes   []Note
	errs    config.Errors
	votes   map[sqlstmt.Dialect]bool // dialects that alone understood a statement
	skipped skipped
}

// skipped is a run of statements of one kind that were skipped.
type skipped struct {
	what  string
	count int
}

// outcome is what became of one statement.
type outcome struct {
	// kind names a statement that does not matter here ("CREATE VIEW"), for its
	// note; empty if the statement was applied.
	kind    string
	problem string // what kept it from being applied; empty if nothing did
	at      int    // where the problem is, if not at the statement's start
	// harmless: the problem keeps no table of the schema from being what it is.
	harmless bool
	anchors  []anchor
}

func applied(anchors ...anchor) outcome { return outcome{anchors: anchors} }

func ignored(kind string) outcome { return outcome{kind: kind} }

func failed(format string, args ...any) outcome {
	return outcome{problem: fmt.Sprintf(format, args...)}
}

// elsewhere is a statement about a table that the schema does not have: a temporary one,
// or somebody else's.
func elsewhere(table any) outcome {
	o := failed("statement skipped: table %v is not in the schema", table)
	o.harmless = true
	return o
}

func (r *reader) note(pos config.Pos, text string) {
	r.skipped = skipped{}
	r.notes = append(r.notes, Note{Pos: pos, Text: text, Problem: true})
}

// skip notes a statement that does not matter. A dump has thousands of INSERTs
// in a row: they share one note.
func (r *reader) skip(pos config.Pos, what string) {
	if r.skipped.what == what {
		r.skipped.count++
		r.notes[len(r.notes)-1].Text = fmt.Sprintf("%s skipped (%d statements)", what, r.skipped.count)
		return
	}
	r.note(pos, what+" skipped")
	last := &r.notes[len(r.notes)-1]
	last.Problem, last.Hides = false, hides[what]
	r.skipped = skipped{what, 1}
}

// hides are the statements that run code which this package does not read.
var hides = map[string]bool{"DO": true, "CALL": true, "SELECT": true, "WITH": true, "EXECUTE": true, "EXEC": true, "PREPARE": true}

// read applies one file.
func (r *reader) read(file string, data []byte) {
	if strings.HasPrefix(string(data), "\xff\xfe") || strings.HasPrefix(string(data), "\xfe\xff") {
		r.note(fileStart(file), "file skipped: it is UTF-16; save it as UTF-8")
		return
	}
	src := newSource(file, data)
	src.keepUp()
	r.guess = r.dialect
	if r.dialect == sqlstmt.Unknown && looksMySQL(src) {
		r.guess = sqlstmt.MySQL
	}
	statements, rest := split(src, r.guess)
	known := len(r.errs)
	for _, st := range statements {
		r.statement(st)
	}
	r.stray(src, rest)
	slices.SortStableFunc(r.errs[known:], func(a, b *config.InputError) int {
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Column, b.Pos.Column))
	})
	r.skipped = skipped{}
}

// mysqlMarks are what only a schema of MySQL or MariaDB has.
var mysqlMarks = regexp.MustCompile(`(?im)\bauto_increment\b|\)\s*engine\s*=|^\s*delimiter\s`)

// looksMySQL reports whether a source has such marks outside of comments.
func looksMySQL(src *source) bool {
	if !mysqlMarks.Match(src.text) {
		return false
	}
	trial := newSource(src.file, src.text)
	split(trial, sqlstmt.Unknown)
	return mysqlMarks.Match(trial.bare)
}

// readable are the first words of statements that can change a table.
var readable = map[string]bool{"CREATE": true, "ALTER": true, "DROP": true, "RENAME": true}

func (r *reader) statement(st *statement) {
	o := r.outcome(st)
	pos := st.src.pos(max(o.at, st.start))
	switch {
	case o.kind != "":
		r.skip(pos, o.kind)
	case o.problem != "":
		r.note(pos, o.problem)
		r.notes[len(r.notes)-1].Problem = !o.harmless && !r.onlyIndex(st)
	}
	r.attach(st, o)
}

// onlyIndex tells whether a statement is about an index and says nothing of which rows
// there can be. Where an upsert goes by any unique index, a unique one does.
func (r *reader) onlyIndex(st *statement) bool {
	if !slices.Contains(st.words[:min(3, len(st.words))], "INDEX") { // CREATE UNIQUE INDEX
		return false
	}
	mysql := r.guess == sqlstmt.MySQL || r.guess == sqlstmt.MariaDB
	return !mysql || !slices.Contains(st.words, "UNIQUE")
}

func (r *reader) outcome(st *statement) outcome {
	size := st.end - st.start
	switch {
	case st.broken != "":
		return outcome{problem: st.broken + ": the rest of the file is skipped", at: st.brokenAt}
	case len(st.words) == 0 || digits(st.words[0]) > 0:
		return failed("not a statement")
	case !readable[st.words[0]]:
		return ignored(st.words[0])
	case size > maxStatement:
		return failed("statement skipped: it has %d bytes, more than the %d that are read", size, maxStatement)
	case st.depth > maxDepth:
		return failed("statement skipped: parentheses nested deeper than %d", maxDepth)
	}
	return r.apply(st)
}

// engine parses one statement into what it does; err is a syntax error.
type engine struct {
	dialect sqlstmt.Dialect
	parse   func(text string) (effect, error)
}

// effect applies a parsed statement to the catalog.
type effect func(*reader, *statement) outcome

// engines are the parsers to try for a dialect, in this order.
var engines = map[sqlstmt.Dialect][]engine{
	sqlstmt.Unknown:  {{sqlstmt.Postgres, parsePostgres}, {sqlstmt.SQLite, parseSQLite}, {sqlstmt.MySQL, parseMySQL}, {sqlstmt.MariaDB, parseMariaDB}},
	sqlstmt.Postgres: {{sqlstmt.Postgres, parsePostgres}},
	sqlstmt.SQLite:   {{sqlstmt.SQLite, parseSQLite}},
	sqlstmt.MySQL:    {{sqlstmt.MySQL, parseMySQL}},
	sqlstmt.MariaDB:  {{sqlstmt.MariaDB, parseMariaDB}},
}

// covered is what need not be tried where one of the dialects named understood:
// what is SQL to PostgreSQL is no sign of MySQL, and MariaDB understands all of that.
var covered = map[sqlstmt.Dialect][]sqlstmt.Dialect{
	sqlstmt.MySQL:   {sqlstmt.Postgres},
	sqlstmt.MariaDB: {sqlstmt.Postgres, sqlstmt.MySQL},
}

func (r *reader) apply(st *statement) outcome {
	all := engines[r.dialect]
	if r.guess == r.dialect {
		o, _ := r.applyBy(st, all)
		return o
	}
	o, ok := r.applyBy(st, all[2:]) // SQLite would take BIGINT AUTO_INCREMENT for a type
	if ok {
		return o
	}
	if other, ok := r.applyBy(st, all[:2]); ok {
		return other
	}
	return o
}

// applyBy applies what the first of the engines that understands the statement makes of
// it; false if none does.
func (r *reader) applyBy(st *statement, tried []engine) (outcome, bool) {
	var first effect
	var why error
	var by []sqlstmt.Dialect
	for _, e := range tried {
		if slices.ContainsFunc(covered[e.dialect], func(d sqlstmt.Dialect) bool { return slices.Contains(by, d) }) {
			continue
		}
		do, err := guarded(e.parse, st.bare(st.start, st.end))
		switch {
		case err == nil:
			by = append(by, e.dialect)
			if first == nil {
				first = do
			}
		case why == nil:
			why = err
		}
	}
	if first == nil {
		return failed("statement skipped: %v", why), false
	}
	if len(by) == 1 {
		r.votes[by[0]] = true
	}
	return first(r, st), true
}

// guarded calls a parser that is not ours: if it panics, one statement is lost,
// not the run.
func guarded(parse func(string) (effect, error), text string) (do effect, err error) {
	defer func() {
		if p := recover(); p != nil {
			do, err = nil, fmt.Errorf("the parser failed: %v", p)
		}
	}()
	return parse(text)
}

// understood is the dialect of the schema: the one asked for, else the only one
// that some statements could be read in. MariaDB's is MySQL's and more.
func (r *reader) understood() sqlstmt.Dialect {
	votes := maps.Clone(r.votes)
	if votes[sqlstmt.MariaDB] {
		delete(votes, sqlstmt.MySQL)
	}
	if r.dialect == sqlstmt.Unknown && len(votes) == 1 {
		for d := range votes {
			return d
		}
	}
	return r.dialect
}
