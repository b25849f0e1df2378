package ub12

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"
)

// Several copies of the indexer may be started against one SQLite file on a
// share; a row in daemon_lock says which one works.
type Guard struct {
	db    *sql.DB
	me    string
	stale time.Duration
}

var ErrRunning = errors.New("another indexer is running")

func NewGuard(db *sql.DB, stale time.Duration) (*Guard, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	return &Guard{db: db, me: fmt.Sprintf("%s/%d", host, os.Getpid()), stale: stale}, nil
}

func (g *Guard) read(ctx context.Context) (holder string, beat time.Time, err error) {
	var unix int64
	err = g.db.QueryRowContext(ctx, `SELECT holder, beat_at FROM daemon_lock WHERE name = 'indexer'`).Scan(&holder, &unix)
	if errors.Is(err, sql.ErrNoRows) {
		return "", time.Time{}, nil
	}
	return holder, time.Unix(unix, 0), err
}

// Enter takes the row if nobody holds it or its holder looks dead.
func (g *Guard) Enter(ctx context.Context) error {
	holder, beat, err := g.read(ctx)
	if err != nil {
		return err
	}
	if holder != "" && holder != g.me && time.Since(beat) < g.stale { // want:T
		return fmt.Errorf("%w: %s", ErrRunning, holder)
	}
	_, err = g.db.ExecContext(ctx, // want:C
		`INSERT OR REPLACE INTO daemon_lock (name, holder, beat_at) VALUES ('indexer', ?, ?)`, g.me, time.Now().Unix())
	return err
}

// Beat is called from a ticker.
func (g *Guard) Beat(ctx context.Context) error {
	res, err := g.db.ExecContext(ctx, // may:T
		`UPDATE daemon_lock SET beat_at = ? WHERE name = 'indexer' AND holder = ?`, time.Now().Unix(), g.me)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, ErrRunning)
	}
	return nil
}

func (g *Guard) Leave(ctx context.Context) error {
	holder, _, err := g.read(ctx)
	if err != nil {
		return err
	}
	if holder == g.me {
		_, err = g.db.ExecContext(ctx, `DELETE FROM daemon_lock WHERE name = 'indexer'`) // want:C
	}
	return err
}
