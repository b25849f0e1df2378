package ue11

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
)

var ErrAnotherSync = errors.New("a sync of this connection is running")

// CursorStore keeps incremental sync cursors in MySQL.
type CursorStore struct {
	db *sql.DB
}

type Page struct {
	Cursor string
	Rows   int
	Last   bool
}

// exclusively runs fn while a named lock is held by a connection of its own.
func (c *CursorStore) exclusively(ctx context.Context, name string, fn func(context.Context) error) error { // may:M
	conn, err := c.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()

	var got sql.NullInt64
	if err := conn.QueryRowContext(ctx, "SELECT GET_LOCK(?, 10)", name).Scan(&got); err != nil {
		return fmt.Errorf("get_lock %s: %w", name, err)
	}
	if got.Int64 != 1 {
		return ErrAnotherSync
	}
	defer func() {
		if _, err := conn.ExecContext(context.WithoutCancel(ctx), "DO RELEASE_LOCK(?)", name); err != nil {
			log.Printf("release_lock %s: %v", name, err)
		}
	}()
	return fn(ctx)
}

// Sync pulls pages until the source has no more. The named lock dies with its
// connection, the cursor is saved over the pool.
func (c *CursorStore) Sync(ctx context.Context, connID string, pull func(ctx context.Context, cursor string) (Page, error)) error {
	return c.exclusively(ctx, "sync:"+connID, func(ctx context.Context) error {
		var cur string
		err := c.db.QueryRowContext(ctx, "SELECT cur FROM sync_cursor WHERE connection_id = ?", connID).Scan(&cur)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		for {
			p, err := pull(ctx, cur)
			if err != nil {
				return fmt.Errorf("pull after %q: %w", cur, err)
			}
			cur = p.Cursor
			_, err = c.db.ExecContext(ctx, // want:C
				"INSERT INTO sync_cursor (connection_id, cur) VALUES (?, ?) ON DUPLICATE KEY UPDATE cur = VALUES(cur)", connID, cur)
			if err != nil {
				return err
			}
			if p.Last {
				return nil
			}
		}
	})
}
