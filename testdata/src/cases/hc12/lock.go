package hc12

import (
	"database/sql"
	"errors"
	"fmt"

	"github.com/google/uuid"
)

var ErrForeign = errors.New("lock belongs to somebody else")

// tableLock keeps one row per named lock.
type tableLock struct {
	db    *sql.DB
	owner string
}

func newTableLock(db *sql.DB) *tableLock { return &tableLock{db: db, owner: uuid.New().String()} }

func (l *tableLock) acquire(name string) (bool, error) {
	res, err := l.db.Exec(`INSERT INTO schema_locks (name, holder, taken_at) VALUES (?, ?, CURRENT_TIMESTAMP)
		ON CONFLICT (name) DO NOTHING`, name, l.owner)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n == 1, err
}

func (l *tableLock) release(name string) error {
	var holder string
	if err := l.db.QueryRow(`SELECT holder FROM schema_locks WHERE name = ?`, name).Scan(&holder); err != nil {
		return fmt.Errorf("lock %q: %w", name, err)
	}
	if holder != l.owner {
		return ErrForeign
	}
	_, err := l.db.Exec(`DELETE FROM schema_locks WHERE name = ?`, name) // want:C
	return err
}
