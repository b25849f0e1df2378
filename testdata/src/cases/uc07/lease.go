package uc07

import (
	"context"
	"database/sql"
)

// leaseRow is a one-row-per-name lease in the application's own database.
type leaseRow struct {
	db    *sql.DB
	name  string
	owner string
}

const claimLease = `
INSERT INTO scheduler_lease (name, owner, expires_at) VALUES (?1, ?2, datetime('now', '+30 seconds'))
ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at
WHERE scheduler_lease.owner = excluded.owner OR scheduler_lease.expires_at < datetime('now')`

// hold claims or extends the lease; false: somebody else has it.
func (l *leaseRow) hold(ctx context.Context) (bool, error) {
	res, err := l.db.ExecContext(ctx, claimLease, l.name, l.owner)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n == 1, err
}
