package sink_test

import (
	"os"
	"strings"
	"testing"

	"github.com/fencelint/fence/analyzers/internal/sink"
	"github.com/fencelint/fence/internal/sqlstmt"
)

var judgements = map[sink.Judgement]string{sink.NotAWrite: "none", sink.Plain: "plain", sink.Compared: "compared", sink.Unclear: "unclear"}

// testdata/judge.sql: under each "-- word" the statements that are judged so,
// one a line; ◌ stands for what is not known.
func TestJudgeWrite(t *testing.T) {
	data, err := os.ReadFile("testdata/judge.sql")
	if err != nil {
		t.Fatal(err)
	}
	want := ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "-- "); ok {
			want, _, _ = strings.Cut(rest, ":")
			continue
		}
		if line == "" {
			continue
		}
		style := sqlstmt.Native
		if strings.Contains(line, "?") {
			style = sqlstmt.Question
		}
		s := sqlstmt.Parse(strings.ReplaceAll(line, "◌", sqlstmt.Hole), sqlstmt.Unknown, sqlstmt.Options{Placeholders: style})
		if s.Err != "" || len(s.Stmts) != 1 || len(s.Stmts[0].Writes) != 1 {
			t.Errorf("%s: %s, %+v", line, s.Err, s.Stmts)
			continue
		}
		if got := judgements[sink.JudgeWrite(s.Stmts[0].Writes[0], nil)]; got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}
