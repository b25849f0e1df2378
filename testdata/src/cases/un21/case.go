// Package un21 moves money between wallets as the current processor; check and
// writes are one serializable transaction.
package un21

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"

	"github.com/google/uuid"
)

var ErrNotProcessor = errors.New("another processor is current")

type Processor struct {
	db *sql.DB
	me string
}

func NewProcessor(db *sql.DB) (*Processor, error) {
	h, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	return &Processor{db: db, me: h + "/" + uuid.NewString()}, nil
}

// Move is safe to repeat when the database reports a serialization failure.
func (p *Processor) Move(ctx context.Context, from, to string, cents int64) error {
	tx, err := p.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelSerializable})
	if err != nil {
		return err
	}
	defer tx.Rollback()

	var cur string
	if err := tx.QueryRowContext(ctx, `SELECT processor FROM wallet_processor WHERE one`).Scan(&cur); err != nil {
		return fmt.Errorf("processor: %w", err)
	}
	if cur != p.me {
		return ErrNotProcessor
	}
	var have int64
	if err := tx.QueryRowContext(ctx, `SELECT cents FROM wallet WHERE name = $1`, from).Scan(&have); err != nil {
		return err
	}
	if have < cents {
		return fmt.Errorf("wallet %s has only %d", from, have)
	}
	if _, err := tx.ExecContext(ctx, `UPDATE wallet SET cents = cents - $2 WHERE name = $1`, from, cents); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `UPDATE wallet SET cents = cents + $2 WHERE name = $1`, to, cents); err != nil {
		return err
	}
	return tx.Commit()
}
