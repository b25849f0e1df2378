// Package ua19 crawls zones; each zone is crawled by one node at a time.
package ua19

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

type Page struct {
	URL  string
	Next string
	Body []byte
}

type PageFetcher interface {
	FetchPage(ctx context.Context, zone, cursor string) (Page, error)
}

type Crawler struct {
	pool *pgxpool.Pool
	get  PageFetcher
	node string
	ttl  time.Duration
	cur  *hold
}

func (c *Crawler) Crawl(ctx context.Context, zone string) error {
	h, err := c.claim(ctx, zone)
	if err != nil {
		return fmt.Errorf("claim %s: %w", zone, err)
	}
	if h == nil {
		return nil
	}
	c.cur = h
	var cursor string
	if err := c.pool.QueryRow(ctx, `SELECT cursor FROM crawl_frontier WHERE zone = $1`, zone).Scan(&cursor); err != nil {
		return err
	}
	for {
		p, err := c.get.FetchPage(ctx, zone, cursor)
		if err != nil {
			slog.Warn("fetch", "zone", zone, "err", err)
			return nil
		}
		if !c.cur.live() {
			return errExpired
		}
		if _, err := c.pool.Exec(ctx, `UPDATE crawl_frontier SET cursor = $2 WHERE zone = $1`, zone, p.Next); err != nil { // want:C
			return err
		}
		if p.Next == "" {
			return nil
		}
		cursor = p.Next
	}
}
