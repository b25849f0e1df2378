package wz10

import (
	"context"
	"database/sql"
	"errors"

	"github.com/uptrace/bun"
)

type Target struct {
	bun.BaseModel `bun:"table:crawl_targets,alias:t"`

	ID      int64 `bun:",pk"`
	Host    string
	ETag    string `bun:"etag"`
	Depth   int
	Blocked bool
	Term    int64
}

var ErrDeposed = errors.New("a newer crawler owns the host")

// Crawler walks the targets of the hosts it was assigned in a term.
type Crawler struct {
	db   *bun.DB
	term int64
}

func (c *Crawler) Seen(ctx context.Context, t *Target, etag string) error {
	t.ETag, t.Term = etag, c.term
	res, err := c.db.NewUpdate().Model(t).
		Column("etag", "term").
		WherePK().
		Where("term <= ?", c.term).
		Exec(ctx)
	return changed(res, err)
}

// Block stores robots.txt's answer. WherePK is all there is.
func (c *Crawler) Block(ctx context.Context, t *Target) error {
	t.Blocked = true
	res, err := c.db.NewUpdate().Model(t).Column("blocked").WherePK().Exec(ctx) // want:W
	return changed(res, err)
}

// Prune drops what is too deep, host by host.
func (c *Crawler) Prune(ctx context.Context, hosts []string, depth int) error {
	return c.db.RunInTx(ctx, &sql.TxOptions{}, func(ctx context.Context, tx bun.Tx) error {
		q := tx.NewDelete().Model((*Target)(nil)).Where("depth > ?", depth)
		if len(hosts) > 0 {
			q = q.Where("host IN (?)", bun.In(hosts))
		}
		_, err := q.Exec(ctx) // want:W
		return err
	})
}

// Add is open to everybody: a new row has nothing to overwrite.
func (c *Crawler) Add(ctx context.Context, ts []*Target) error {
	_, err := c.db.NewInsert().Model(&ts).On("CONFLICT (id) DO NOTHING").Exec(ctx)
	return err
}

func changed(res sql.Result, err error) error {
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, ErrDeposed)
	}
	return nil
}
