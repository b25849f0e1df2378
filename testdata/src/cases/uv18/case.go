package uv18

import (
	"context"
	"database/sql"
	"fmt"

	sq "github.com/Masterminds/squirrel"
)

var psql = sq.StatementBuilder.PlaceholderFormat(sq.Dollar)

// Channels stores what the connector of a channel last synchronised. The
// coordinator gives every connector a term.
type Channels struct {
	db sq.BaseRunner
}

type Sync struct {
	Channel string
	Term    int64
	Cursor  string
	Err     string
}

// SaveCursor compares and stores the term.
func (c *Channels) SaveCursor(ctx context.Context, s Sync) (bool, error) {
	res, err := psql.Update("channels").
		Set("cursor", s.Cursor).
		Set("term", s.Term).
		Where(sq.Eq{"name": s.Channel}).
		Where(sq.LtOrEq{"term": s.Term}).
		RunWith(c.db).ExecContext(ctx)
	return hit(res, err)
}

// Reset starts a channel from the beginning. It is called by the connector
// when the remote side has forgotten the cursor.
func (c *Channels) Reset(ctx context.Context, s Sync) (bool, error) {
	set := map[string]any{"cursor": "", "last_error": s.Err}
	res, err := psql.Update("channels").SetMap(set).Where(sq.Eq{"name": s.Channel}).RunWith(c.db).ExecContext(ctx) // want:W
	return hit(res, err)
}

func hit(res sql.Result, err error) (bool, error) {
	if err != nil {
		return false, fmt.Errorf("channels: %w", err)
	}
	n, err := res.RowsAffected()
	return n > 0, err
}
