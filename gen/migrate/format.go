package migrate

import (
	"bytes"
	"slices"
	"strings"

	"github.com/fencelint/fence/internal/sqlstmt"
)

// A Format is how a migration tool wants its files.
type Format string

// The formats, by their names in fence.yaml.
const (
	Goose         Format = "goose"
	GolangMigrate Format = "golang-migrate"
	Dbmate        Format = "dbmate"
	// Plain is one file of SQL after the other, without a tool. What takes a migration back
	// is in a file that is not called .sql, so that nobody who reads the directory runs it.
	Plain Format = "plain"
)

func formats() []string {
	return []string{string(Goose), string(GolangMigrate), string(Dbmate), string(Plain)}
}

// A layout is what the files of one format look like.
type layout struct {
	up, down   string // the endings of the files; down is empty if one file has both
	upMark     string // before each part of a file that has both
	downMark   string
	begin, end string // around a statement with semicolons of its own
	// delimited: the client needs to be told where such a statement ends, in the dialects
	// of MySQL.
	delimited bool
	first     string // number of the first file; empty: files have none
	// notes are what to know about the tool.
	notes map[sqlstmt.Dialect]string
}

var layouts = map[Format]layout{
	Goose: {
		up: ".sql", upMark: "-- +goose Up", downMark: "-- +goose Down",
		begin: "-- +goose StatementBegin\n", end: "\n-- +goose StatementEnd",
		first: "00001",
	},
	GolangMigrate: {
		up: ".up.sql", down: ".down.sql",
		first: "000001",
		notes: map[sqlstmt.Dialect]string{
			sqlstmt.Postgres: "-- Not with x-multi-statement, which cuts a file at each of its semicolons.",
			sqlstmt.MariaDB:  multiStatements,
			sqlstmt.MySQL:    multiStatements,
		},
	},
	Dbmate: {
		up: ".sql", upMark: "-- migrate:up", downMark: "-- migrate:down",
		// It orders its files by their names, which begin with a time most often.
		first: "00000000000001",
	},
	Plain: {up: ".sql", down: "_down.sql.txt", delimited: true},
}

const multiStatements = `-- A program that gives the tool a connection of its own opens it with multiStatements=true.`

// A migration is the statements of both directions.
type migration struct {
	up, down []step
	triggers bool
}

// files are those of a migration, called after stem.
func (l layout) files(stem string, d sqlstmt.Dialect, m migration) []File {
	l = l.in(d)
	head := []string{"-- What the generated writers need: written by fence gen, for you to keep."}
	if note := l.notes[d]; note != "" {
		head = append(head, note)
	}
	if note := dialects[d].note; note != "" && m.triggers {
		head = append(head, note)
	}
	up := l.part(l.upMark, strings.Join(head, "\n"), m.up)
	down := l.part(l.downMark, "-- Takes it back.", m.down)
	if l.down == "" {
		return []File{{stem + l.up, slices.Concat(up, []byte("\n"), down)}}
	}
	return []File{{stem + l.up, up}, {stem + l.down, down}}
}

// in is the layout for a dialect.
func (l layout) in(d sqlstmt.Dialect) layout {
	if l.delimited && (d == sqlstmt.MariaDB || d == sqlstmt.MySQL) {
		l.begin, l.end = "DELIMITER //\n", "\n//\nDELIMITER ;"
	}
	return l
}

// part is the statements of one direction.
func (l layout) part(mark, head string, steps []step) []byte {
	var b bytes.Buffer
	for _, line := range []string{mark, head} {
		if line != "" {
			b.WriteString(line + "\n")
		}
	}
	for _, s := range steps {
		b.WriteByte('\n')
		if s.comment != "" {
			b.WriteString(s.comment + "\n")
		}
		switch {
		case s.body && l.begin != "":
			b.WriteString(l.begin + s.text + l.terminator() + l.end + "\n")
		default:
			b.WriteString(s.text + ";\n")
		}
	}
	return b.Bytes()
}

// terminator is what ends a statement within its marks.
func (l layout) terminator() string {
	if strings.Contains(l.end, "//") {
		return ""
	}
	return ";"
}
