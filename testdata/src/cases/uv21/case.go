package uv21

import (
	"context"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"
)

var ErrSuperseded = errors.New("agent was superseded")

// Agents stores what an agent reports about its machine. A machine may have
// two agents for a while when it is re-imaged; the newer has the higher epoch.
type Agents struct{ db *sqlx.DB }

type Report struct {
	Machine string `db:"machine"`
	Epoch   int64  `db:"epoch"`
	Phase   string `db:"phase"`
	Facts   []byte `db:"facts"`
}

func (a *Agents) Store(ctx context.Context, r Report) error {
	res, err := a.db.NamedExecContext(ctx, `
		UPDATE machines SET phase = :phase, facts = :facts, epoch = :epoch
		WHERE machine = :machine AND epoch <= :epoch`, r)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, ErrSuperseded)
	}
	return nil
}

// SetPhase is the short form for phase changes between two reports. The
// trigger on the table only keeps updated_at.
func (a *Agents) SetPhase(ctx context.Context, r Report) error {
	_, err := a.db.NamedExecContext(ctx, `UPDATE machines SET phase = :phase WHERE machine = :machine`, r) // want:W
	if err != nil {
		return fmt.Errorf("phase of %s: %w", r.Machine, err)
	}
	return nil
}
