// Package hn45 handles insurance claims.
package hn45

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

type Claim struct {
	ID        int64
	Adjuster  string
	Deadline  time.Time
	State     string
	UpdatedAt time.Time
}

var ErrLate = errors.New("the filing deadline has passed")

type Desk struct{ pool *pgxpool.Pool }

func (d *Desk) File(ctx context.Context, id int64, adjuster string) error {
	var c Claim
	if err := d.pool.QueryRow(ctx, `SELECT id, adjuster, deadline, state FROM insurance_claims WHERE id = $1`, id).
		Scan(&c.ID, &c.Adjuster, &c.Deadline, &c.State); err != nil {
		return err
	}
	if time.Now().After(c.Deadline) {
		return ErrLate
	}
	if c.Adjuster != adjuster {
		return errors.New("assigned to a colleague")
	}
	_, err := d.pool.Exec(ctx, `UPDATE insurance_claims SET state = 'filed', updated_at = now() WHERE id = $1`, c.ID)
	return err
}

// Leaderboard and lockers: words that only contain ours.
func (d *Desk) Score(ctx context.Context, player string, n int) error {
	var best int
	if err := d.pool.QueryRow(ctx, `SELECT score FROM leaderboard WHERE player = $1`, player).Scan(&best); err != nil {
		return err
	}
	if n <= best {
		return nil
	}
	_, err := d.pool.Exec(ctx, `UPDATE leaderboard SET score = $2 WHERE player = $1`, player, n)
	return err
}

func (d *Desk) Rent(ctx context.Context, locker int, member int64) error {
	var by int64
	if err := d.pool.QueryRow(ctx, `SELECT member_id FROM gym_lockers WHERE no = $1`, locker).Scan(&by); err != nil {
		return err
	}
	if by != 0 && by != member {
		return errors.New("locker is occupied")
	}
	_, err := d.pool.Exec(ctx, `UPDATE gym_lockers SET member_id = $2 WHERE no = $1`, locker, member)
	return err
}
