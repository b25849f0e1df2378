package qn04

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

var ErrFenced = errors.New("fenced: a newer controller has written")

// Ports belongs to the controller with the highest term; the database refuses
// everybody else (see the trigger in schema.sql).
type Ports struct {
	db   *sql.DB
	term int64
}

func (p *Ports) write(ctx context.Context, fn func(*sql.Tx) error) error {
	tx, err := p.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, `SELECT set_config('ports.term', $1, true)`, strconv.FormatInt(p.term, 10)); err != nil {
		return fmt.Errorf("announce term: %w", err)
	}
	if err := fn(tx); err != nil {
		if strings.Contains(err.Error(), "term is over") {
			return ErrFenced
		}
		return err
	}
	return tx.Commit()
}

func (p *Ports) Enable(ctx context.Context, sw string, port int) error {
	return p.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE ports SET enabled = true WHERE switch = $1 AND port = $2`, sw, port)
		return err
	})
}

func (p *Ports) SetVLAN(ctx context.Context, sw string, port, vlan int) error {
	return p.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE ports SET vlan = $3 WHERE switch = $1 AND port = $2`, sw, port, vlan)
		return err
	})
}
