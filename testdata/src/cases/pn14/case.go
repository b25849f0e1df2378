package pn14

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"
)

var ErrGeneration = errors.New("generation moved on")

// Assignments checks the generation and writes in one serializable
// transaction: a takeover in between makes the commit fail.
type Assignments struct {
	db *sqlx.DB
}

func (a *Assignments) Store(ctx context.Context, group string, gen int64, parts map[int]string) (err error) {
	tx, err := a.db.BeginTxx(ctx, &sql.TxOptions{Isolation: sql.LevelSerializable})
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = tx.Rollback()
		}
	}()
	var cur int64
	if err = tx.GetContext(ctx, &cur, `SELECT generation FROM consumer_group WHERE name = $1`, group); err != nil {
		return fmt.Errorf("group %s: %w", group, err)
	}
	if cur != gen {
		return ErrGeneration
	}
	for p, member := range parts {
		if _, err = tx.ExecContext(ctx,
			`UPDATE assignment SET member = $3 WHERE group_name = $1 AND partition = $2`, group, p, member); err != nil {
			return fmt.Errorf("partition %d: %w", p, err)
		}
	}
	return tx.Commit()
}
