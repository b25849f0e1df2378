package ua19

import (
	"context"
	"errors"
	"time"
)

var errExpired = errors.New("hold ran out")

// hold is what this process knows about its ownership of a zone.
type hold struct {
	node  string
	zone  string
	until time.Time
}

func (h *hold) live() bool { return h != nil && time.Now().Before(h.until) }

const claimZone = `
INSERT INTO crawl_owner (zone, node, expires_at) VALUES ($1, $2, now() + make_interval(secs => $3))
ON CONFLICT (zone) DO UPDATE SET node = EXCLUDED.node, expires_at = EXCLUDED.expires_at
WHERE crawl_owner.node = EXCLUDED.node OR crawl_owner.expires_at < now()`

func (c *Crawler) claim(ctx context.Context, zone string) (*hold, error) {
	sent := time.Now()
	tag, err := c.pool.Exec(ctx, claimZone, zone, c.node, c.ttl.Seconds())
	if err != nil {
		return nil, err
	}
	if tag.RowsAffected() == 0 {
		return nil, nil
	}
	return &hold{node: c.node, zone: zone, until: sent.Add(c.ttl - c.ttl/4)}, nil
}
