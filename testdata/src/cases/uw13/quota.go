package uw13

import (
	"context"
	"errors"

	"github.com/uptrace/bun"
)

type Quota struct {
	bun.BaseModel `bun:"table:tenant_quota,alias:q"`

	Tenant       string `bun:",pk"`
	Region       string `bun:",pk"`
	Used         int64
	Allowed      int64
	FencingToken int64
}

var ErrStale = errors.New("region has a newer accountant")

// Accountant owns the quotas of one region while its token is the newest.
type Accountant struct {
	db     *bun.DB
	region string
	token  int64
}

// Set compares the stored token with the one it writes.
func (a *Accountant) Set(ctx context.Context, tenant string, used int64) error {
	row := &Quota{Tenant: tenant, Region: a.region, Used: used, FencingToken: a.token}
	res, err := a.db.NewUpdate().Model(row).
		Column("used", "fencing_token").
		WherePK().
		Where("q.fencing_token <= ?", a.token).
		Exec(ctx)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, ErrStale)
	}
	return nil
}

// Add charges usage; the row is found by its key alone.
func (a *Accountant) Add(ctx context.Context, tenant string, delta int64) error {
	_, err := a.db.NewUpdate().Model((*Quota)(nil)). // want:W
								Set("used = used + ?", delta).
								Where("tenant = ?", tenant).
								Where("region = ?", a.region).
								Exec(ctx)
	return err
}

// Recount replaces all rows of the region by what a scan has counted.
func (a *Accountant) Recount(ctx context.Context, rows []Quota) error {
	return a.db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		for i := range rows {
			rows[i].Region = a.region
			rows[i].FencingToken = a.token
		}
		_, err := tx.NewInsert().Model(&rows). // want:W|D
							On("CONFLICT (tenant, region) DO UPDATE").
							Set("used = EXCLUDED.used").
							Set("fencing_token = EXCLUDED.fencing_token").
							Exec(ctx)
		return err
	})
}
