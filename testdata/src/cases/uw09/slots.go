package uw09

import (
	"context"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"
)

var ErrSuperseded = errors.New("printer has a newer spooler")

type Slots struct {
	db      *sqlx.DB
	printer string
	grant   int64
}

// Clear removes a slot only while no newer spooler has written it.
func (s *Slots) Clear(ctx context.Context, slot int) error {
	res, err := s.db.ExecContext(ctx,
		`DELETE FROM printer_slot WHERE printer = ? AND slot = ? AND grant_no <= ?`, s.printer, slot, s.grant)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, ErrSuperseded)
	}
	return nil
}

// Load swaps whole rows, whoever wrote them.
func (s *Slots) Load(ctx context.Context, jobs []int64) error {
	for i, j := range jobs {
		_, err := s.db.ExecContext(ctx, // want:W|D
			`REPLACE INTO printer_slot (printer, slot, job, grant_no) VALUES (?, ?, ?, ?)`, s.printer, i, j, s.grant)
		if err != nil {
			return fmt.Errorf("slot %d: %w", i, err)
		}
	}
	return nil
}

// Eject takes the job out of a slot and says which it was.
func (s *Slots) Eject(ctx context.Context, slot int) (job int64, err error) {
	err = s.db.QueryRowxContext(ctx, // want:W
		`DELETE FROM printer_slot WHERE printer = ? AND slot = ? RETURNING job`, s.printer, slot).Scan(&job)
	return job, err
}
