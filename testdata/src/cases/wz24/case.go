package wz24

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/google/uuid"
)

var (
	ErrHeld = errors.New("plan is held")
	ErrLost = errors.New("plan was taken over")
)

type Plans struct{ db *sql.DB }

type Held struct {
	p     *Plans
	plan  int64
	epoch int64
}

// Claim takes a plan that is free or run out and mints the next epoch.
func (p *Plans) Claim(ctx context.Context, plan int64) (*Held, error) {
	h := &Held{p: p, plan: plan}
	err := p.db.QueryRowContext(ctx, `
		UPDATE backup_plans
		SET holder = $2, lease_until = now() + interval '2 minutes', epoch = epoch + 1
		WHERE id = $1 AND (holder IS NULL OR lease_until < now())
		RETURNING epoch`, plan, uuid.New()).Scan(&h.epoch)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrHeld
	}
	return h, err
}

// Reap frees plans whose holder went away; it raises the epoch as well.
func (p *Plans) Reap(ctx context.Context) (int64, error) {
	res, err := p.db.ExecContext(ctx, `
		UPDATE backup_plans SET holder = NULL, lease_until = NULL, epoch = epoch + 1
		WHERE lease_until < now() - interval '1 minute'`)
	if err != nil {
		return 0, fmt.Errorf("reap: %w", err)
	}
	return res.RowsAffected()
}

// Record stores the result of a backup.
func (h *Held) Record(ctx context.Context, size int64) error {
	res, err := h.p.db.ExecContext(ctx,
		`UPDATE backup_plans SET last_size = $3, epoch = $2 WHERE id = $1 AND epoch <= $2`, h.plan, h.epoch, size)
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, ErrLost)
	}
	return nil
}

// Annotate is for operators: both columns are nobody's.
func (p *Plans) Annotate(ctx context.Context, plan int64, note string, label string) error {
	_, err := p.db.ExecContext(ctx,
		`UPDATE backup_plans SET note = $2, labels = array_append(labels, $3) WHERE id = $1`, plan, note, label)
	return err
}

// Migrate adds the size and fills it for old rows.
func Migrate(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, `
		ALTER TABLE backup_plans ADD COLUMN IF NOT EXISTS last_size bigint;
		UPDATE backup_plans SET last_size = 0 WHERE last_size IS NULL;`)
	return err
}
