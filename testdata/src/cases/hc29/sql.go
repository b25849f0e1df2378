package hc29

import (
	"context"

	sq "github.com/Masterminds/squirrel"
	"github.com/jackc/pgx/v5/pgxpool"
)

type pgRepo struct{ pool *pgxpool.Pool }

var psql = sq.StatementBuilder.PlaceholderFormat(sq.Dollar)

func NewRepo(p *pgxpool.Pool) Repo { return &pgRepo{p} }

func (r *pgRepo) SetQuota(ctx context.Context, tenant string, n int64) error {
	q, args, err := psql.Update("quotas").Set("used", n).Where(sq.Eq{"tenant": tenant}).ToSql()
	if err != nil {
		return err
	}
	_, err = r.pool.Exec(ctx, q, args...) // may:C
	return err
}
