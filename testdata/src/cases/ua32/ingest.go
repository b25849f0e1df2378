// Package ua32 ingests feeds that a coordinator hands out.
package ua32

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"time"
)

type Item struct {
	GUID  string
	Title string
	Body  string
}

type FeedReader interface {
	ReadFeed(ctx context.Context, feed, cursor string) (items []Item, next string, err error)
}

type Ingester struct {
	db   *sql.DB
	co   *coordinator
	fr   FeedReader
	name string
}

func NewIngester(db *sql.DB, co *coordinator, fr FeedReader) (*Ingester, error) {
	h, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	return &Ingester{db: db, co: co, fr: fr, name: h}, nil
}

// Ingest fetches one page of a feed that was assigned to this worker.
func (i *Ingester) Ingest(ctx context.Context, feed string) error {
	a, err := i.co.assignment(ctx, feed)
	if err != nil {
		return err
	}
	var cursor string
	if err := i.db.QueryRowContext(ctx, `SELECT cursor FROM feed_cursor WHERE feed = $1`, feed).Scan(&cursor); err != nil {
		return err
	}
	items, next, err := i.fr.ReadFeed(ctx, feed, cursor)
	if err != nil {
		return fmt.Errorf("read %s: %w", feed, err)
	}
	if a.Worker != i.name || a.Overdue(time.Now()) { // may:T
		return errReassigned
	}
	for _, it := range items {
		_, err := i.db.ExecContext(ctx,
			`INSERT INTO feed_item (guid, feed, title, body) VALUES ($1, $2, $3, $4) ON CONFLICT (guid) DO NOTHING`,
			it.GUID, feed, it.Title, it.Body)
		if err != nil {
			return fmt.Errorf("item %s: %w", it.GUID, err)
		}
	}
	_, err = i.db.ExecContext(ctx, `UPDATE feed_cursor SET cursor = $2 WHERE feed = $1`, feed, next) // want:C
	return err
}
