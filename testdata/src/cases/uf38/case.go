package uf38

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"
)

var ErrSuperseded = errors.New("the build was given to another agent")

// Build is what an agent gets when it claims.
type Build struct {
	ID    int64  `db:"id"`
	Claim int64  `db:"claim_no"`
	Spec  string `db:"spec"`
}

type Builds struct{ db *sqlx.DB }

func (b *Builds) Claim(ctx context.Context, agent string) (*Build, error) {
	var out Build
	err := b.db.GetContext(ctx, &out, `
		UPDATE agent_builds SET claim_no = claim_no + 1, agent = $1, state = 'running', lease_end = now() + interval '1 minute'
		WHERE id = (
			SELECT id FROM agent_builds
			WHERE state = 'queued' OR (state = 'running' AND lease_end < now())
			ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
		RETURNING id, claim_no, spec`, agent)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("claim: %w", err)
	}
	return &out, nil
}

func one(res sql.Result, err error) error {
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}
	if n != 1 {
		return ErrSuperseded
	}
	return nil
}

func (b *Builds) Extend(ctx context.Context, x *Build) error {
	return one(b.db.ExecContext(ctx,
		`UPDATE agent_builds SET lease_end = now() + interval '1 minute' WHERE id = $1 AND claim_no = $2`, x.ID, x.Claim))
}

func (b *Builds) Finish(ctx context.Context, x *Build, exit int) error {
	return one(b.db.ExecContext(ctx,
		`UPDATE agent_builds SET state = 'finished', exit_code = $3 WHERE id = $1 AND claim_no = $2`, x.ID, x.Claim, exit))
}

// Annotate forgets the claim that Extend and Finish compare.
func (b *Builds) Annotate(ctx context.Context, x *Build, artifact string) error {
	return one(b.db.ExecContext(ctx, // want:W|L
		`UPDATE agent_builds SET artifact = $2 WHERE id = $1`, x.ID, artifact))
}
