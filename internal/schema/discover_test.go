package schema

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestDiscover(t *testing.T) {
	const goose = "-- comment\n--  +goose Up\ncreate table a (id int);\n"
	root := t.TempDir()
	for name, data := range map[string]string{
		"go.mod":                         "",
		"db/migrations/1_a.sql":          goose,
		"db/migrations/2_b.sql":          "select 1;",
		"db/schema.sql":                  "create table a (id int);",
		"store/sql/1_init.up.sql":        "",
		"store/sql/1_init.down.sql":      "",
		"mate/20250101000000_x.sql":      "-- migrate:up transaction:false\n",
		"old/20250101000000_x.sql":       "-- +migrate Up\n",
		"queries/q.sql":                  "-- name: Get :one\nselect 1; -- goose up\n",
		"vendor/x/1_a.up.sql":            "",
		"testdata/1_a.up.sql":            "",
		"web/node_modules/x/1_a.up.sql":  "",
		".git/1_a.up.sql":                "",
		"_attic/1_a.up.sql":              "",
		"other/go.mod":                   "",
		"other/migrations/1_a.up.sql":    "",
		"up/no_number.up.sql":            "",
		"db/migrations/deep/3_c.sql":     goose,
		"db/migrations/deep/not-sql.txt": goose,
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Discover(root)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, d := range []string{"db/migrations", "db/migrations/deep", "mate", "old", "store/sql"} {
		want = append(want, filepath.Join(root, d))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err := Discover(filepath.Join(root, "none")); err == nil {
		t.Error("no error for a root that does not exist")
	}
}
