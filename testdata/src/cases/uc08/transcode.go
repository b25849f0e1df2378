package uc08

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
)

var ErrInProgress = errors.New("asset is being transcoded")

type Encoder interface {
	Encode(ctx context.Context, src string, profile string) (url string, err error)
}

// Transcoder makes one rendition at a time per asset. A lock row marks the
// asset as taken; rows of crashed workers are reaped.
type Transcoder struct {
	db     *sql.DB
	enc    Encoder
	worker string
}

func (t *Transcoder) lock(ctx context.Context, asset string) error {
	res, err := t.db.ExecContext(ctx, `
		INSERT INTO transcode_lock (asset_id, worker, locked_at) VALUES ($1, $2, now())
		ON CONFLICT (asset_id) DO NOTHING`, asset, t.worker)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil {
		return err
	} else if n == 0 {
		return ErrInProgress
	}
	return nil
}

// Reap frees assets whose worker died.
func (t *Transcoder) Reap(ctx context.Context) error {
	_, err := t.db.ExecContext(ctx, `DELETE FROM transcode_lock WHERE locked_at < now() - interval '20 minutes'`)
	return err
}

func (t *Transcoder) Process(ctx context.Context, asset, src, profile string) (err error) {
	if err := t.lock(ctx, asset); err != nil {
		return err
	}
	defer func() {
		// whoever holds it by now
		_, derr := t.db.ExecContext(context.WithoutCancel(ctx), // want:C
			`DELETE FROM transcode_lock WHERE asset_id = $1`, asset)
		if derr != nil {
			slog.Error("unlock asset", "asset", asset, "err", derr)
		}
	}()

	url, err := t.enc.Encode(ctx, src, profile)
	if err != nil {
		return fmt.Errorf("encode %s: %w", asset, err)
	}
	_, err = t.db.ExecContext(ctx, // want:C
		`UPDATE assets SET rendition_url = $2, state = 'ready', updated_at = now() WHERE id = $1`, asset, url)
	return err
}
