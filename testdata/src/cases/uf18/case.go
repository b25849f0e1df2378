package uf18

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	sq "github.com/Masterminds/squirrel"
)

const offlineAfterMillis = int64(60 * 1000)

func getMillis() int64 { return time.Now().UnixMilli() }

// Discovery lists the nodes of a cluster; the first one that is alive leads.
type Discovery struct {
	db      *sql.DB
	builder sq.StatementBuilderType
	cluster string
	host    string
}

func NewDiscovery(db *sql.DB, cluster, host string) *Discovery {
	return &Discovery{db: db, cluster: cluster, host: host,
		builder: sq.StatementBuilder.PlaceholderFormat(sq.Question)}
}

func (d *Discovery) Ping(ctx context.Context) error { // may:T|S|W
	_, err := d.builder.Update("cluster_discovery").
		Set("last_ping_at", getMillis()).
		Where(sq.Eq{"cluster_name": d.cluster, "hostname": d.host}).
		RunWith(d.db).ExecContext(ctx)
	if err != nil {
		return fmt.Errorf("ping: %w", err)
	}
	return nil
}

// Leader returns the node with the smallest name among those that pinged
// lately, by the clock of the asking node.
func (d *Discovery) Leader(ctx context.Context) (string, error) {
	query, args, err := d.builder.Select("hostname").
		From("cluster_discovery").
		Where(sq.Eq{"cluster_name": d.cluster}).
		Where(sq.Gt{"last_ping_at": getMillis() - offlineAfterMillis}). // want:T
		OrderBy("hostname").Limit(1).
		ToSql()
	if err != nil {
		return "", fmt.Errorf("leader: %w", err)
	}
	var host string
	err = d.db.QueryRowContext(ctx, query, args...).Scan(&host) // may:T
	return host, err
}

func (d *Discovery) Cleanup(ctx context.Context) (int64, error) {
	res, err := d.builder.Delete("cluster_discovery"). // want:T
								Where(sq.Eq{"cluster_name": d.cluster}).
								Where(sq.Lt{"last_ping_at": getMillis() - offlineAfterMillis}).
								RunWith(d.db).ExecContext(ctx)
	if err != nil {
		return 0, fmt.Errorf("cleanup: %w", err)
	}
	return res.RowsAffected()
}
