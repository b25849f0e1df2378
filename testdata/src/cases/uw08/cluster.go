package uw08

import (
	"context"
	"database/sql"
	"errors"
	"strings"
)

var ErrStale = errors.New("the cluster has a newer controller")

// Cluster is written by the controller with the highest token.
type Cluster struct {
	db    *sql.DB
	token int64
}

// SetLoad keeps the old values when the row already has a newer fence; the
// fence comes last because MySQL assigns from left to right.
func (c *Cluster) SetLoad(ctx context.Context, node string, load int) error {
	res, err := c.db.ExecContext(ctx, `
		UPDATE node_state
		SET load1 = IF(fence <= ?, ?, load1), fence = LAST_INSERT_ID(GREATEST(fence, ?))
		WHERE node = ?`, c.token, load, c.token, node)
	if err != nil {
		return err
	}
	cur, err := res.LastInsertId()
	if err != nil {
		return err
	}
	if cur != c.token {
		return ErrStale
	}
	return nil
}

// Register stores its token and never looks at the one that is there.
func (c *Cluster) Register(ctx context.Context, nodes []string) error {
	if len(nodes) == 0 {
		return nil
	}
	var args []any
	for _, n := range nodes {
		args = append(args, n, "up", c.token)
	}
	q := `INSERT INTO node_state (node, state, fence) VALUES (?, ?, ?)` +
		strings.Repeat(`, (?, ?, ?)`, len(nodes)-1) +
		` ON DUPLICATE KEY UPDATE state = VALUES(state), fence = VALUES(fence)`
	_, err := c.db.ExecContext(ctx, q, args...) // want:W|D
	return err
}

// Drained updates two tables; the fence of the first is forgotten.
func (c *Cluster) Drained(ctx context.Context, node string) error {
	_, err := c.db.ExecContext(ctx, // want:W
		`UPDATE node_state AS n JOIN drain_request AS d ON d.node = n.node
		 SET n.state = 'drained', d.done = 1
		 WHERE n.node = ? AND d.done = 0`, node)
	return err
}
