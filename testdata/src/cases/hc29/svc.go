package hc29

import (
	"context"
	"fmt"

	"github.com/bsm/redislock"
)

// Repo is implemented elsewhere in this package.
type Repo interface {
	SetQuota(ctx context.Context, tenant string, n int64) error
}

type Svc struct {
	lk   *redislock.Client
	repo Repo
}

func (s *Svc) Recompute(ctx context.Context, tenant string) (n int64, err error) {
	l, err := s.obtain(ctx, tenant)
	if err != nil {
		return 0, fmt.Errorf("recompute: %w", err)
	}
	defer func() {
		if rerr := l.Release(ctx); rerr != nil && err == nil {
			err = rerr
		}
	}()
	n = int64(len(tenant))
	if err = s.repo.SetQuota(ctx, tenant, n); err != nil { // want:C
		return 0, err
	}
	return n, nil
}

func (s *Svc) obtain(ctx context.Context, tenant string) (*redislock.Lock, error) {
	return s.lk.Obtain(ctx, "quota:"+tenant, 1e10, &redislock.Options{Metadata: tenant})
}
