package hc16

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

type StaleEpochError struct{ Have, Want int64 }

func (e *StaleEpochError) Error() string { return fmt.Sprintf("epoch %d, current %d", e.Have, e.Want) }

type Committer struct {
	pool  *pgxpool.Pool
	epoch int64
}

func (c *Committer) Commit(ctx context.Context, topic string, offset int64) error {
	if err := c.verify(ctx, topic); err != nil {
		return fmt.Errorf("commit %s: %w", topic, err)
	}
	_, err := c.pool.Exec(ctx, `UPDATE topics SET committed = @off WHERE name = @topic`, // want:C
		pgx.NamedArgs{"topic": topic, "off": offset})
	return err
}

func (c *Committer) verify(ctx context.Context, topic string) error {
	var stored int64
	if err := c.pool.QueryRow(ctx, `SELECT epoch FROM topic_leaders WHERE topic = @t`, pgx.NamedArgs{"t": topic}).Scan(&stored); err != nil {
		return err
	}
	if stored > c.epoch {
		return &StaleEpochError{Have: c.epoch, Want: stored}
	}
	return nil
}
