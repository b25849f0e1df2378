package uw07

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Renderer makes the document; it takes minutes.
type Renderer interface {
	Render(ctx context.Context, account int64) (string, error)
}

type Service struct {
	db *sql.DB
	r  Renderer
}

// next locks a pending run, and gives the lock back at once.
func (s *Service) next(ctx context.Context) (id, account int64, err error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = tx.Rollback() }()
	err = tx.QueryRowContext(ctx, `
		SELECT id, account FROM invoice_run WHERE state = 'pending'
		ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED`).Scan(&id, &account)
	if err != nil {
		return 0, 0, err
	}
	return id, account, tx.Commit()
}

// Work renders after the lock has gone: two services can hold the same run.
func (s *Service) Work(ctx context.Context) error {
	id, account, err := s.next(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	pdf, err := s.r.Render(ctx, account)
	if err != nil {
		return fmt.Errorf("run %d: %w", id, err)
	}
	_, err = s.db.ExecContext(ctx, `UPDATE invoice_run SET state = 'done', pdf = $2 WHERE id = $1`, id, pdf) // want:W|L
	return err
}

// Void takes a session lock on whatever connection the pool hands out, and
// writes on another one.
func (s *Service) Void(ctx context.Context, account int64, note string) error {
	if _, err := s.db.ExecContext(ctx, `SELECT pg_advisory_lock($1)`, account); err != nil {
		return err
	}
	defer func() { _, _ = s.db.ExecContext(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, account) }()
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, // want:W|C
		`UPDATE invoice_run SET state = 'void', note = $2 WHERE account = $1`, account, note); err != nil {
		return err
	}
	return tx.Commit()
}
