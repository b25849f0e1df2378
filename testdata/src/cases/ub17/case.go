package ub17

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

// Transcoder takes one upload at a time from the queue table. The lease is
// kept fresh while ffmpeg runs; what it produced goes to the asset table.
type Transcoder struct {
	db     *sqlx.DB
	encode func(ctx context.Context, src string) (url string, seconds int, err error)
}

type claim struct {
	JobID   int64  `db:"id"`
	AssetID int64  `db:"asset_id"`
	Source  string `db:"source"`
	lease   string
}

func (t *Transcoder) claim(ctx context.Context) (*claim, error) {
	c := claim{lease: uuid.NewString()}
	err := t.db.GetContext(ctx, &c, `
		UPDATE transcode_job SET lease_id = $1, leased_until = now() + interval '2 minutes'
		WHERE id = (SELECT id FROM transcode_job
			WHERE done_at IS NULL AND (leased_until IS NULL OR leased_until < now())
			ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
		RETURNING id, asset_id, source`, c.lease)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("claim: %w", err)
	}
	return &c, nil
}

func (t *Transcoder) keep(ctx context.Context, c *claim, lost context.CancelFunc) {
	defer lost()
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(30 * time.Second):
		}
		res, err := t.db.ExecContext(ctx,
			`UPDATE transcode_job SET leased_until = now() + interval '2 minutes' WHERE id = $1 AND lease_id = $2`, c.JobID, c.lease)
		if err != nil {
			return
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return
		}
	}
}

func (t *Transcoder) Next(ctx context.Context) (bool, error) {
	c, err := t.claim(ctx)
	if err != nil || c == nil {
		return false, err
	}
	wctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go t.keep(wctx, c, cancel)

	url, secs, err := t.encode(wctx, c.Source)
	if err != nil {
		return true, err
	}
	_, err = t.db.ExecContext(wctx, `UPDATE asset SET stream_url = $2, seconds = $3 WHERE id = $1`, c.AssetID, url, secs) // want:C
	if err != nil {
		return true, err
	}
	res, err := t.db.ExecContext(wctx, `UPDATE transcode_job SET done_at = now() WHERE id = $1 AND lease_id = $2`, c.JobID, c.lease)
	if err != nil {
		return true, err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return true, errors.Join(err, errors.New("lease was lost"))
	}
	return true, nil
}
