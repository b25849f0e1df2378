package xn06

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

var (
	ErrStale   = errors.New("tablet is managed by a newer orchestrator")
	ErrUnknown = errors.New("no such tablet")
)

type Topo struct {
	db    *sql.DB
	token int64
}

// set assigns conditionally: the value stays when the stored fence is newer.
// The fence is assigned last and comes back as the insert id.
func (t *Topo) set(ctx context.Context, column string, v any, alias string) error {
	q := fmt.Sprintf("UPDATE tablet SET `%[1]s` = IF(fence <= ?, ?, `%[1]s`), "+
		"fence = LAST_INSERT_ID(GREATEST(fence, ?)) WHERE alias = ?", column)
	res, err := t.db.ExecContext(ctx, q, t.token, v, t.token, alias)
	if err != nil {
		return err
	}
	cur, err := res.LastInsertId()
	switch {
	case err != nil:
		return err
	case cur == 0:
		return ErrUnknown
	case cur > t.token:
		return ErrStale
	}
	return nil
}

func (t *Topo) Promote(ctx context.Context, alias string) error {
	return t.set(ctx, "role", "primary", alias)
}

func (t *Topo) SetLag(ctx context.Context, alias string, ms int) error {
	return t.set(ctx, "lag_ms", ms, alias)
}

// Register inserts or updates; every assignment of the update is conditional.
func (t *Topo) Register(ctx context.Context, alias, role string) error {
	res, err := t.db.ExecContext(ctx, `
		INSERT INTO tablet (alias, role, fence) VALUES (?, ?, ?)
		ON DUPLICATE KEY UPDATE
			role  = IF(fence <= VALUES(fence), VALUES(role), role),
			fence = LAST_INSERT_ID(GREATEST(fence, VALUES(fence)))`, alias, role, t.token)
	if err != nil {
		return err
	}
	cur, err := res.LastInsertId()
	if err == nil && cur > t.token {
		err = ErrStale
	}
	return err
}

// Forget deletes only what no newer orchestrator has written.
func (t *Topo) Forget(ctx context.Context, alias string) error {
	res, err := t.db.ExecContext(ctx, "DELETE FROM tablet WHERE alias = ? AND fence <= ?", alias, t.token)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, ErrStale)
	}
	return nil
}
