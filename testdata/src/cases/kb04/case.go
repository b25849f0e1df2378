// Package kb04 syncs connectors of a data integration service.
package kb04

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"example.com/corpus/cases/kb04/store"
)

var (
	ErrSyncing     = errors.New("another worker is syncing the connector")
	ErrStaleSecret = errors.New("secret of the connector has expired")
)

// dbNow has the precision of the database.
func dbNow() time.Time { return time.Now().UTC().Round(time.Microsecond) }

type Syncer struct {
	db    *sql.DB
	me    string
	lease time.Duration
}

func (s *Syncer) inTx(ctx context.Context, fn func(*store.Queries) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if err := fn(store.New(tx)); err != nil {
		return err
	}
	return tx.Commit()
}

// Begin leases the connector to this worker.
func (s *Syncer) Begin(ctx context.Context, id int64) (store.Connector, error) {
	var c store.Connector
	err := s.inTx(ctx, func(q *store.Queries) error {
		var err error
		if c, err = q.GetConnectorForUpdate(ctx, id); err != nil {
			return err
		}
		now := dbNow()
		if c.SecretExpiry.Valid && c.SecretExpiry.Time.Before(now) {
			return ErrStaleSecret
		}
		if c.SyncLeaseUntil.Valid && c.SyncLeaseUntil.Time.After(now) { // want:T
			return ErrSyncing
		}
		return q.LeaseConnector(ctx, store.LeaseConnectorParams{ // may:T
			ID:             id,
			SyncOwner:      sql.NullString{String: s.me, Valid: true},
			SyncLeaseUntil: sql.NullTime{Time: now.Add(s.lease), Valid: true},
		})
	})
	return c, err
}
