package uc07

import (
	"context"
	"database/sql"
	"log"
	"net/http"
	"time"
)

// Poller refreshes RSS feeds from whichever instance has the lease.
type Poller struct {
	db    *sql.DB
	lease *leaseRow
	hc    *http.Client
}

func NewPoller(db *sql.DB, host string) *Poller {
	return &Poller{db: db, lease: &leaseRow{db: db, name: "feeds", owner: host}, hc: http.DefaultClient}
}

func (p *Poller) Loop(ctx context.Context) {
	for range time.Tick(10 * time.Second) {
		if ctx.Err() != nil {
			return
		}
		if ok, err := p.lease.hold(ctx); err != nil || !ok {
			continue
		}
		feeds, err := p.due(ctx)
		if err != nil {
			log.Print(err)
			continue
		}
		for id, u := range feeds {
			p.refresh(ctx, id, u)
		}
	}
}

func (p *Poller) due(ctx context.Context) (map[int64]string, error) {
	rows, err := p.db.QueryContext(ctx, `SELECT id, url FROM feeds WHERE next_fetch < datetime('now') LIMIT 50`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[int64]string{}
	for rows.Next() {
		var id int64
		var u string
		if err := rows.Scan(&id, &u); err != nil {
			return nil, err
		}
		out[id] = u
	}
	return out, rows.Err()
}

func (p *Poller) refresh(ctx context.Context, id int64, u string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u, nil)
	if err != nil {
		return
	}
	resp, err := p.hc.Do(req)
	if err != nil {
		log.Printf("feed %d: %v", id, err)
		return
	}
	resp.Body.Close()
	_, err = p.db.ExecContext(ctx, // want:C
		`UPDATE feeds SET etag = ?, status = ?, next_fetch = datetime('now', '+1 hour') WHERE id = ?`,
		resp.Header.Get("ETag"), resp.StatusCode, id)
	if err != nil {
		log.Printf("feed %d: %v", id, err)
	}
}
