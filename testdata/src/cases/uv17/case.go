package uv17

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/uptrace/bun"
)

// Render is a video rendering; ClaimNo is raised each time a worker takes it.
type Render struct {
	bun.BaseModel `bun:"table:renders,alias:r"`

	ID       int64      `bun:"id,pk,autoincrement"`
	State    string     `bun:"state,notnull"`
	ClaimNo  int64      `bun:"claim_no,notnull"`
	Percent  int        `bun:"percent,notnull"`
	Output   string     `bun:"output"`
	DoneAt   *time.Time `bun:"done_at"`
	LeasedTo time.Time  `bun:"leased_to"`
}

var ErrNoWork = errors.New("no work")

type Renders struct{ db *bun.DB }

func (s *Renders) Claim(ctx context.Context) (*Render, error) {
	r := new(Render)
	err := s.db.NewRaw(`
		UPDATE renders SET state = 'running', claim_no = claim_no + 1, leased_to = now() + interval '2 minutes'
		WHERE id = (SELECT id FROM renders
		            WHERE state = 'queued' OR (state = 'running' AND leased_to < now())
		            ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
		RETURNING *`).Scan(ctx, r)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNoWork
	}
	return r, err
}

// SetPercent updates one column of the claimed row by its primary key.
func (s *Renders) SetPercent(ctx context.Context, r *Render, pct int) error {
	r.Percent = pct
	_, err := s.db.NewUpdate().Model(r).Column("percent").WherePK().Exec(ctx) // want:W|L
	return err
}

// Done is what a worker calls last, however long it took.
func (s *Renders) Done(ctx context.Context, r *Render, output string) error {
	now := time.Now()
	r.State, r.Output, r.DoneAt = "done", output, &now
	_, err := s.db.NewUpdate(). // want:W|L
					Model(r).
					Column("state", "output", "done_at").
					Where("id = ?", r.ID).
					Where("state = ?", "running").
					Exec(ctx)
	return err
}
