package hx05

import (
	"context"
	"errors"
	"slices"

	"github.com/hashicorp/consul/api"

	"example.com/corpus/cases/hx05/manifest"
)

// Compactor merges segments. A Consul lock keeps two compactors apart.
type Compactor struct {
	consul *api.Client
	repo   *manifest.Repo
	merge  func(ctx context.Context, segs []string) (string, error)
}

var ErrLost = errors.New("compaction lock lost")

func (c *Compactor) Compact(ctx context.Context, table string) error {
	lock, err := c.consul.LockOpts(&api.LockOptions{
		Key:        "compact/" + table + "/.lock",
		SessionTTL: "15s",
	})
	if err != nil {
		return err
	}
	lost, err := lock.Lock(ctx.Done())
	if err != nil {
		return err
	}
	if lost == nil {
		return ctx.Err()
	}
	defer lock.Unlock()

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-lost:
			cancel(ErrLost)
		case <-ctx.Done():
		}
	}()

	key := table + "/manifest.json"
	m, err := c.repo.Load(ctx, key)
	if err != nil {
		return err
	}
	if len(m.Segments) < 4 {
		return nil
	}
	old := slices.Clone(m.Segments[:4])
	merged, err := c.merge(ctx, old)
	if err != nil {
		return err
	}
	m.Segments = append([]string{merged}, m.Segments[4:]...)
	return c.repo.Save(ctx, key, m) // want:C
}
