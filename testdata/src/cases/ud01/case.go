package ud01

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/redis/go-redis/v9"
)

// Storage keeps certificates and the locks that guard their issuance.
type Storage struct {
	rdb    *redis.Client
	prefix string
	node   string
	ttl    time.Duration
}

var ErrForeignLock = errors.New("lock belongs to another instance")

func (s *Storage) lockKey(name string) string { return path.Join(s.prefix, "locks", name) }

// Lock polls until the key can be set.
func (s *Storage) Lock(ctx context.Context, name string) error { // may:M
	for {
		ok, err := s.rdb.SetNX(ctx, s.lockKey(name), s.node, s.ttl).Result()
		if err != nil {
			return fmt.Errorf("lock %s: %w", name, err)
		}
		if ok {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// Unlock must not remove a lock another instance got after ours expired.
func (s *Storage) Unlock(ctx context.Context, name string) error { // may:R
	key := s.lockKey(name)
	holder, err := s.rdb.Get(ctx, key).Result()
	if errors.Is(err, redis.Nil) {
		return nil
	}
	if err != nil {
		return err
	}
	if holder != s.node {
		return ErrForeignLock
	}
	if err := s.rdb.Del(ctx, key).Err(); err != nil { // want:C
		return fmt.Errorf("unlock %s: %w", name, err)
	}
	return nil
}
