package xn19

import (
	"context"
	"database/sql"
	"errors"
)

var ErrEditConflict = errors.New("page was edited meanwhile")

type Page struct {
	Slug string
	Body string
	Rev  int64
}

type Wiki struct{ db *sql.DB }

func (w *Wiki) Load(ctx context.Context, slug string) (*Page, error) {
	p := Page{Slug: slug}
	err := w.db.QueryRowContext(ctx, `SELECT body, rev FROM wiki_page WHERE slug = $1`, slug).Scan(&p.Body, &p.Rev)
	if err != nil {
		return nil, err
	}
	return &p, nil
}

// Edit stores over the revision that was read just before, and tries again
// when an other edit was faster: two editors, no owner.
func (w *Wiki) Edit(ctx context.Context, slug string, change func(string) string) error {
	for range 3 {
		p, err := w.Load(ctx, slug)
		if err != nil {
			return err
		}
		res, err := w.db.ExecContext(ctx,
			`UPDATE wiki_page SET body = $2, rev = $3 WHERE slug = $1 AND rev = $4`,
			slug, change(p.Body), p.Rev+1, p.Rev)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		if err != nil {
			return err
		}
		if n == 1 {
			return nil
		}
	}
	return ErrEditConflict
}

// Protect and Viewed leave the revision alone; they collide with nobody.
func (w *Wiki) Protect(ctx context.Context, slug string, on bool) error {
	_, err := w.db.ExecContext(ctx, `UPDATE wiki_page SET protected = $2 WHERE slug = $1`, slug, on)
	return err
}

func (w *Wiki) Viewed(ctx context.Context, slug string) error {
	_, err := w.db.ExecContext(ctx, `UPDATE wiki_page SET views = views + 1 WHERE slug = $1`, slug)
	return err
}
