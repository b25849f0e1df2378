package wz11

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	sq "github.com/Masterminds/squirrel"
)

const configs = "device_configs"

var builder = sq.StatementBuilder.PlaceholderFormat(sq.Question)

var ErrRolloutMoved = errors.New("rollout has a newer controller")

type Patch struct {
	Firmware string
	Channel  string
}

// Rollout pushes firmware to a fleet, in waves.
type Rollout struct {
	db    *sql.DB
	fleet string
	gen   int64
}

func (r *Rollout) update(p Patch) sq.UpdateBuilder {
	b := builder.Update(configs)
	if p.Firmware != "" {
		b = b.Set("firmware", p.Firmware)
	}
	if p.Channel != "" {
		b = b.Set("channel", p.Channel)
	}
	return b
}

func (r *Rollout) asController(b sq.UpdateBuilder) sq.UpdateBuilder {
	return b.Set("rollout_gen", r.gen).Where(sq.LtOrEq{"rollout_gen": r.gen})
}

// Wave upgrades some devices.
func (r *Rollout) Wave(ctx context.Context, devices []int64, p Patch) (int64, error) {
	res, err := r.asController(r.update(p)).
		Where(sq.Eq{"fleet": r.fleet, "device_id": devices}).
		RunWith(r.db).ExecContext(ctx)
	if err != nil {
		return 0, fmt.Errorf("wave: %w", err)
	}
	return res.RowsAffected()
}

// Rollback sets the whole fleet back to what it had before.
func (r *Rollout) Rollback(ctx context.Context, to string) error {
	query, args, err := r.update(Patch{Firmware: to, Channel: "stable"}).
		Where(sq.And{sq.Eq{"fleet": r.fleet}, sq.NotEq{"firmware": to}}).
		ToSql()
	if err != nil {
		return fmt.Errorf("rollback: %w", err)
	}
	res, err := r.db.ExecContext(ctx, query, args...) // want:W
	if err != nil {
		return fmt.Errorf("rollback: %w", err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, ErrRolloutMoved)
	}
	return nil
}

func (r *Rollout) Pending(ctx context.Context, firmware string) (n int, err error) {
	err = builder.Select("COUNT(*)").From(configs).
		Where(sq.Eq{"fleet": r.fleet}).Where(sq.NotEq{"firmware": firmware}).
		RunWith(r.db).QueryRowContext(ctx).Scan(&n)
	return n, err
}
