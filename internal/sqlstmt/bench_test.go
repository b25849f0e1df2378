package sqlstmt

import (
	"testing"

	sqliteparser "github.com/sqlc-dev/meyer/parser"
	pgparser "github.com/sqlc-dev/oliphant/parser"
)

// benchTexts are statements as programs write them.
var benchTexts = []struct {
	name  string
	d     Dialect
	style Style
	text  string
	bare  string // the same in the parser's own placeholders
}{
	{"pg/update", Postgres, Native, "UPDATE orders SET total=$1, fence=$2 WHERE id=$3 AND fence <= $2 RETURNING fence", ""},
	{"pg/select", Postgres, Native, "SELECT id, name, state, fence FROM jobs WHERE state = 'queued' AND run_at <= now() ORDER BY run_at LIMIT 1 FOR UPDATE SKIP LOCKED", ""},
	{"pg/upsert", Postgres, Native, "INSERT INTO orders (id, total, fence) VALUES ($1, $2, $3) ON CONFLICT (id) DO UPDATE SET total = excluded.total, fence = excluded.fence WHERE orders.fence <= excluded.fence", ""},
	{"pg/cte", Postgres, Native, "WITH g AS (SELECT token FROM fences WHERE resource = $1 FOR SHARE) UPDATE orders AS o SET total = $2 FROM g WHERE o.id = $3 AND g.token = $4", ""},
	{"pg/cast", Postgres, Native, "UPDATE orders SET total = $1::numeric, meta = $2::jsonb WHERE id = ANY($3::bigint[]) AND fence <= $4::bigint", ""},
	{"pg/question", Postgres, Question, "UPDATE orders SET total=?, fence=? WHERE id=? AND fence <= ?", "UPDATE orders SET total=$1, fence=$2 WHERE id=$3 AND fence <= $4"},
	{"pg/named", Postgres, Named, "UPDATE orders SET total=:total, fence=:fence WHERE id=:id AND fence <= :fence", "UPDATE orders SET total=$1, fence=$2 WHERE id=$3 AND fence <= $2"},
	{"sqlite/update", SQLite, Native, "UPDATE orders SET total=?2, fence=?1 WHERE id=?3 AND fence <= ?1 RETURNING fence", ""},
	{"sqlite/select", SQLite, Native, "SELECT id, name, state, fence FROM jobs WHERE state = 'queued' AND run_at <= datetime('now') ORDER BY run_at LIMIT 1", ""},
	{"sqlite/upsert", SQLite, Native, "INSERT INTO orders (id, total, fence) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET total = excluded.total, fence = excluded.fence WHERE orders.fence <= excluded.fence", ""},
	{"sqlite/named", SQLite, Named, "UPDATE orders SET total=:total, fence=:fence WHERE id=:id AND fence <= :fence", ""},
}

func BenchmarkParse(b *testing.B) {
	for _, t := range benchTexts {
		b.Run(t.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if s := Parse(t.text, t.d, Options{t.style}); s.Err != "" {
					b.Fatal(s.Err)
				}
			}
		})
	}
}

// BenchmarkBare is the parser alone on the same texts.
func BenchmarkBare(b *testing.B) {
	for _, t := range benchTexts {
		text := t.bare
		if text == "" {
			text = t.text
		}
		b.Run(t.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var err error
				if t.d == Postgres {
					_, err = pgparser.ParseToTree(text)
				} else {
					_, err = sqliteparser.Options{UpdateDeleteLimit: true}.ParseString(text)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkHoles parses templates: 3 holes may take 3 ms.
func BenchmarkHoles(b *testing.B) {
	for _, t := range []struct {
		name, text string
		d          Dialect
	}{
		{"pg/3", "SELECT " + Hole + " FROM " + Hole + " WHERE id = $1 " + Hole, Postgres},
		{"pg/3tails", "UPDATE t " + Hole + " SET a = 1 " + Hole + " WHERE b = 2 " + Hole + " RETURNING id", Postgres},
		{"pg/3worst", "SELECT a " + Hole + " b FROM t " + Hole + " c WHERE d " + Hole + " e ) x", Postgres},
		{"pg/3conflicting", "UPDATE t SET " + Hole + " " + Hole + " " + Hole + " ) WHERE a = 1", Postgres},
		{"sqlite/3", "SELECT " + Hole + " FROM " + Hole + " WHERE id = ? " + Hole, SQLite},
		{"sqlite/3worst", "SELECT a " + Hole + " b FROM t " + Hole + " c WHERE d " + Hole + " e ) x", SQLite},
	} {
		b.Run(t.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Parse(t.text, t.d, Options{})
			}
		})
	}
}
