package mn08

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"
)

type Upload struct {
	bun.BaseModel `bun:"table:chunk_uploads"`

	ID         string `bun:",pk"`
	State      string
	Generation int64
	ETags      []string `bun:",array"`
}

var ErrReplaced = errors.New("upload was taken over")

// Uploads compares the generation in every statement that changes a row.
type Uploads struct{ db bun.IDB }

// TakeOver raises the generation of a row nobody touched for a while.
func (u *Uploads) TakeOver(ctx context.Context, id string, idle time.Duration) (*Upload, error) {
	up := new(Upload)
	_, err := u.db.NewUpdate().Model(up).
		Set("generation = generation + 1").
		Set("touched_at = now()").
		Where("id = ?", id).
		Where("touched_at < now() - make_interval(secs => ?)", idle.Seconds()).
		Returning("*").
		Exec(ctx)
	if err != nil {
		return nil, fmt.Errorf("take over %s: %w", id, err)
	}
	return up, nil
}

func (u *Uploads) change(up *Upload) *bun.UpdateQuery {
	return u.db.NewUpdate().Model((*Upload)(nil)).
		Where("id = ?", up.ID).
		Where("generation = ?", up.Generation)
}

func run(ctx context.Context, q *bun.UpdateQuery) error {
	res, err := q.Exec(ctx)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrReplaced
	}
	return nil
}

func (u *Uploads) Part(ctx context.Context, up *Upload, etag string) error {
	return run(ctx, u.change(up).Set("e_tags = array_append(e_tags, ?)", etag).Set("touched_at = now()"))
}

func (u *Uploads) Complete(ctx context.Context, up *Upload) error {
	return run(ctx, u.change(up).Set("state = ?", "complete"))
}
