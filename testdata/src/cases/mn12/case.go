package mn12

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const getLost = `-- name: GetLost :many
SELECT id, attempt, max_attempts FROM action_runs
WHERE state = 'running' AND started_at < now() - make_interval(secs => $1)
LIMIT 1000`

// The attempt that was read is part of the condition: a run that finished or
// started again since then stays as it is.
const putBack = `-- name: PutBack :many
UPDATE action_runs
SET state = u.state, finished_at = CASE WHEN u.state = 'failed' THEN now() END
FROM (
	SELECT unnest($1::bigint[]) AS id, unnest($2::int[]) AS attempt, unnest($3::text[]) AS state
) AS u
WHERE action_runs.id = u.id AND action_runs.attempt = u.attempt AND action_runs.state = 'running'
RETURNING action_runs.id`

type lostRun struct {
	ID          int64
	Attempt     int32
	MaxAttempts int32
}

type Rescuer struct {
	pool  *pgxpool.Pool
	after time.Duration
}

// Rescue returns the runs that were in fact put back.
func (r *Rescuer) Rescue(ctx context.Context) ([]int64, error) {
	rows, err := r.pool.Query(ctx, getLost, r.after.Seconds())
	if err != nil {
		return nil, fmt.Errorf("lost runs: %w", err)
	}
	lost, err := pgx.CollectRows(rows, pgx.RowToStructByPos[lostRun])
	if err != nil || len(lost) == 0 {
		return nil, err
	}
	ids := make([]int64, len(lost))
	attempts := make([]int32, len(lost))
	states := make([]string, len(lost))
	for i, l := range lost {
		ids[i], attempts[i], states[i] = l.ID, l.Attempt, "available"
		if l.Attempt >= l.MaxAttempts {
			states[i] = "failed"
		}
	}
	rows, err = r.pool.Query(ctx, putBack, ids, attempts, states)
	if err != nil {
		return nil, fmt.Errorf("put back: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}
