package uv08

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

var ErrInProgress = errors.New("import already in progress")

// Importer loads a supplier's catalogue; one import per supplier at a time.
type Importer struct {
	rdb  redis.UniversalClient
	load func(ctx context.Context, supplier string) (int, error)
}

func lockName(supplier string) string { return fmt.Sprintf("import:%s:lock", supplier) }

func (i *Importer) tryLock(ctx context.Context, supplier string, ttl time.Duration) (bool, error) {
	return i.rdb.SetNX(ctx, lockName(supplier), "locked", ttl).Result()
}

func (i *Importer) unlock(ctx context.Context, supplier string) error {
	return i.rdb.Del(ctx, lockName(supplier)).Err() // want:C|W
}

// Import may run longer than the lock lives. It then records its count over
// that of the import that followed, and removes the lock of that one.
func (i *Importer) Import(ctx context.Context, supplier string) error {
	ok, err := i.tryLock(ctx, supplier, 2*time.Minute) // may:M
	if err != nil {
		return fmt.Errorf("lock %s: %w", supplier, err)
	}
	if !ok {
		return ErrInProgress
	}
	defer func() {
		_ = i.unlock(context.WithoutCancel(ctx), supplier) // may:C|W
	}()

	n, err := i.load(ctx, supplier)
	if err != nil {
		return fmt.Errorf("load %s: %w", supplier, err)
	}
	return i.rdb.HSet(ctx, "import:"+supplier+":last", "count", n, "state", "ok").Err() // want:C|W
}
