package wz06

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

var ErrSuperseded = errors.New("zone is published by another node")

type Record struct{ Name, Type, Value string }

type Publisher struct {
	db    *sql.DB
	zone  string
	epoch int64
}

// unit is one transaction of a publisher.
type unit struct {
	tx *sql.Tx
	p  *Publisher
}

// Publish replaces the zone. The lease row is locked and compared last, still
// before the commit: nothing of a superseded node becomes visible.
func (p *Publisher) Publish(ctx context.Context, recs []Record) error {
	tx, err := p.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	u := &unit{tx: tx, p: p}
	if err := u.replace(ctx, recs); err != nil {
		return err
	}
	if err := u.bump(ctx); err != nil {
		return err
	}
	return u.finish(ctx)
}

func (u *unit) replace(ctx context.Context, recs []Record) error {
	if _, err := u.tx.ExecContext(ctx, `DELETE FROM dns_records WHERE zone = $1`, u.p.zone); err != nil {
		return fmt.Errorf("clear zone: %w", err)
	}
	for _, r := range recs {
		if _, err := u.tx.ExecContext(ctx, `INSERT INTO dns_records (zone, name, rtype, value) VALUES ($1, $2, $3, $4)`,
			u.p.zone, r.Name, r.Type, r.Value); err != nil {
			return fmt.Errorf("add %s: %w", r.Name, err)
		}
	}
	return nil
}

func (u *unit) bump(ctx context.Context) error {
	_, err := u.tx.ExecContext(ctx, `INSERT INTO dns_serials (zone, serial) VALUES ($1, 1)
		ON CONFLICT (zone) DO UPDATE SET serial = dns_serials.serial + 1`, u.p.zone)
	return err
}

func (u *unit) finish(ctx context.Context) error {
	var current int64
	err := u.tx.QueryRowContext(ctx, `SELECT epoch FROM zone_leases WHERE zone = $1 FOR SHARE`, u.p.zone).Scan(&current)
	if err != nil {
		return fmt.Errorf("lock lease: %w", err)
	}
	if current != u.p.epoch {
		return ErrSuperseded
	}
	return u.tx.Commit()
}
