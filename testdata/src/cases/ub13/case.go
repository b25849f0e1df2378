package ub13

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"example.com/corpus/cases/ub13/db"
)

var errTaken = errors.New("export was claimed by another worker")

type Exporter struct {
	q    *db.Queries
	id   string
	dump func(ctx context.Context, export int64) (files []string, size int64, err error)
}

func New(q *db.Queries, dump func(context.Context, int64) ([]string, int64, error)) *Exporter {
	return &Exporter{q: q, id: uuid.NewString(), dump: dump}
}

func (x *Exporter) Step(ctx context.Context) error {
	id, err := x.q.ClaimExport(ctx, pgtype.Text{String: x.id, Valid: true})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	files, size, err := x.dump(ctx, id)
	if err != nil {
		return fmt.Errorf("dump %d: %w", id, err)
	}
	return x.record(ctx, id, files, size)
}

// record looks whether the export is still ours before it writes the manifest.
func (x *Exporter) record(ctx context.Context, id int64, files []string, size int64) error {
	e, err := x.q.GetExport(ctx, id)
	if err != nil {
		return err
	}
	if !e.ClaimedBy.Valid || e.ClaimedBy.String != x.id {
		return errTaken
	}
	return x.q.PutManifest(ctx, db.PutManifestParams{ExportID: id, Files: files, Bytes: size}) // want:C
}
