package ue12

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os/user"

	"github.com/google/uuid"
)

type LockInfo struct {
	ID        string
	Workspace string
	Operation string
	Who       string
}

type LockedError struct{ Info LockInfo }

func (e *LockedError) Error() string {
	return fmt.Sprintf("workspace %s is locked by %s (%s)", e.Info.Workspace, e.Info.Who, e.Info.Operation)
}

// Backend is a state backend on a shared SQLite file.
type Backend struct {
	db   *sql.DB
	mine map[string]string // workspace -> lock id of this run
}

func (b *Backend) holder(ctx context.Context, ws string) (*LockInfo, error) {
	i := LockInfo{Workspace: ws}
	err := b.db.QueryRowContext(ctx, `SELECT lock_id, operation, who FROM workspace_locks WHERE workspace = ?`, ws).
		Scan(&i.ID, &i.Operation, &i.Who)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read lock: %w", err)
	}
	return &i, nil
}

// Lock takes the workspace for one operation.
func (b *Backend) Lock(ctx context.Context, ws, op string) (string, error) {
	held, err := b.holder(ctx, ws)
	if err != nil {
		return "", err
	}
	if held != nil {
		return "", &LockedError{*held}
	}
	u, err := user.Current()
	if err != nil {
		return "", err
	}
	id := uuid.NewString()
	_, err = b.db.ExecContext(ctx, // want:C|W
		`INSERT OR REPLACE INTO workspace_locks (workspace, lock_id, operation, who) VALUES (?, ?, ?, ?)`,
		ws, id, op, u.Username)
	if err != nil {
		return "", fmt.Errorf("write lock: %w", err)
	}
	b.mine[ws] = id
	return id, nil
}

// Unlock gives the workspace back.
func (b *Backend) Unlock(ctx context.Context, ws string) error {
	held, err := b.holder(ctx, ws)
	if err != nil {
		return err
	}
	if held == nil {
		return fmt.Errorf("workspace %s is not locked", ws)
	}
	if held.ID != b.mine[ws] {
		return &LockedError{*held}
	}
	if _, err := b.db.ExecContext(ctx, `DELETE FROM workspace_locks WHERE workspace = ?`, ws); err != nil { // want:C|W
		return fmt.Errorf("delete lock: %w", err)
	}
	delete(b.mine, ws)
	return nil
}
