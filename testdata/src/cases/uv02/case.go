package uv02

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"text/template"
)

var statements = template.Must(template.New("sink").Parse(`
{{ define "installFence" -}}
UPDATE {{ .Checkpoints }} SET fence = fence + 1
WHERE task = $1 AND shard = $2
RETURNING fence, position
{{- end }}

{{ define "upsert" -}}
INSERT INTO {{ .Target }} (id, doc)
SELECT id, doc FROM {{ .Staging }}
ON CONFLICT (id) DO UPDATE SET doc = EXCLUDED.doc
{{- end }}

{{ define "savePosition" -}}
UPDATE {{ .Checkpoints }} SET position = $1
WHERE task = $2 AND shard = $3
{{- end }}
`))

type names struct{ Checkpoints, Target, Staging string }

// Sink stores a stream of documents and, with them, the position reached.
type Sink struct {
	db    *sql.DB
	names names
	task  string
	shard int
	fence int64
}

func text(name string, n names) (string, error) {
	var b strings.Builder
	if err := statements.ExecuteTemplate(&b, name, n); err != nil {
		return "", fmt.Errorf("render %s: %w", name, err)
	}
	return b.String(), nil
}

func Open(ctx context.Context, db *sql.DB, task string, shard int) (*Sink, []byte, error) {
	s := &Sink{db: db, task: task, shard: shard,
		names: names{Checkpoints: "sink_checkpoints", Target: "documents", Staging: "documents_staging"}}
	q, err := text("installFence", s.names)
	if err != nil {
		return nil, nil, err
	}
	var pos []byte
	if err := db.QueryRowContext(ctx, q, task, shard).Scan(&s.fence, &pos); err != nil {
		return nil, nil, fmt.Errorf("install fence: %w", err)
	}
	return s, pos, nil
}

// Commit stores the staged documents and the position in one transaction. The
// fence that Open installed is not part of it: an instance that was replaced
// moves the position of its successor back.
func (s *Sink) Commit(ctx context.Context, pos []byte) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()

	up, err := text("upsert", s.names)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, up); err != nil {
		return fmt.Errorf("upsert: %w", err)
	}
	save, err := text("savePosition", s.names)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, save, pos, s.task, s.shard); err != nil { // want:W
		return fmt.Errorf("save position: %w", err)
	}
	return tx.Commit()
}
