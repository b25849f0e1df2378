package uw10

import (
	"context"
	"database/sql"
	"errors"
)

var ErrStale = errors.New("state was written by a newer run")

type execer interface {
	ExecContext(ctx context.Context, q string, args ...any) (sql.Result, error)
}

// Backend keeps the state of infrastructure runs in a local database file
// that several runners open.
type Backend struct{ db *sql.DB }

const insert = `(key, val, fence_token) VALUES (?1, ?2, ?3)`

func (b *Backend) Put(ctx context.Context, key string, val []byte, token int64) error {
	return put(ctx, b.db, key, val, token)
}

func put(ctx context.Context, e execer, key string, val []byte, token int64) error {
	res, err := e.ExecContext(ctx, `INSERT INTO state_blob `+insert+`
		ON CONFLICT (key) DO UPDATE SET val = excluded.val, fence_token = excluded.fence_token
		WHERE state_blob.fence_token <= excluded.fence_token`, key, val, token)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err == nil && n == 0 {
		return ErrStale
	}
	return err
}

// Import writes many states; the conflict clause throws the old row away
// together with its token.
func (b *Backend) Import(ctx context.Context, states map[string][]byte, token int64) error {
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	for k, v := range states {
		if _, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO state_blob `+insert, k, v, token); err != nil { // want:W|D
			return err
		}
	}
	return tx.Commit()
}

// Tag is called at the end of a run.
func (b *Backend) Tag(ctx context.Context, key, etag string) error {
	return tag(ctx, b.db, key, etag)
}

func tag(ctx context.Context, e execer, key, etag string) error {
	_, err := e.ExecContext(ctx, `UPDATE state_blob SET etag = :etag WHERE key = :key`, // want:W
		sql.Named("etag", etag), sql.Named("key", key))
	return err
}
