package ud19

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
)

// schedulerState has a row per member of a clustered scheduler.
type schedulerState struct {
	Instance      string `db:"instance_name"`
	LastCheckinMS int64  `db:"last_checkin_ms"` // heartbeat by the member's clock
	IntervalMS    int64  `db:"checkin_interval_ms"`
	Owner         string `db:"recovery_owner"`
}

const graceMS = 7500

type Cluster struct {
	db   *sqlx.DB
	self string
}

func (c *Cluster) failed(ctx context.Context) ([]schedulerState, error) {
	var all []schedulerState
	err := c.db.SelectContext(ctx, &all, `
		SELECT instance_name, last_checkin_ms, checkin_interval_ms, recovery_owner
		FROM scheduler_state WHERE instance_name <> ?`, c.self)
	if err != nil {
		return nil, fmt.Errorf("scheduler state: %w", err)
	}
	now := time.Now().UnixMilli()
	var out []schedulerState
	for _, st := range all {
		if st.LastCheckinMS+st.IntervalMS+graceMS < now { // want:T
			out = append(out, st)
		}
	}
	return out, nil
}

// Recover takes over members that failed to check in; the row must still be
// the one that was judged.
func (c *Cluster) Recover(ctx context.Context) (int, error) {
	dead, err := c.failed(ctx)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, st := range dead {
		res, err := c.db.ExecContext(ctx, `
			UPDATE scheduler_state SET recovery_owner = ?
			WHERE instance_name = ? AND last_checkin_ms = ? AND recovery_owner = ?`,
			c.self, st.Instance, st.LastCheckinMS, st.Owner)
		if err != nil {
			return n, err
		}
		k, err := res.RowsAffected()
		if err != nil {
			return n, err
		}
		n += int(k)
	}
	return n, nil
}
