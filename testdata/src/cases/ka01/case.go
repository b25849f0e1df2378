// Package ka01 is the clip transcoder of a video service: one node at a time
// builds the manifest of a clip.
package ka01

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"
)

var (
	ErrBusy    = errors.New("clip is being transcoded elsewhere")
	ErrNotHeld = errors.New("clip lock is not ours")
)

type ClipLock struct {
	rdb   *redis.Client
	key   string
	token string
}

func Grab(ctx context.Context, rdb *redis.Client, clip string) (*ClipLock, error) {
	raw := make([]byte, 16)
	if _, err := rand.Read(raw); err != nil {
		return nil, err
	}
	l := &ClipLock{rdb: rdb, key: "transcode:lock:" + clip, token: hex.EncodeToString(raw)}
	ok, err := rdb.SetNX(ctx, l.key, l.token, 2*time.Minute).Result()
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, ErrBusy
	}
	return l, nil
}

// Drop looks who holds the lock before it removes the key.
func (l *ClipLock) Drop(ctx context.Context) error {
	holder, err := l.rdb.Get(ctx, l.key).Result()
	if errors.Is(err, redis.Nil) {
		return ErrNotHeld
	}
	if err != nil {
		return err
	}
	if holder != l.token {
		return ErrNotHeld
	}
	_, err = l.rdb.Del(ctx, l.key).Result() // want:C
	return err
}

type Segment struct {
	Name   string
	Millis int64
}

type Builder struct {
	rdb    *redis.Client
	encode func(ctx context.Context, clip string) ([]Segment, error)
}

func (b *Builder) Build(ctx context.Context, clip string) error { // may:M
	lock, err := Grab(ctx, b.rdb, clip)
	if err != nil {
		return err
	}
	defer func() {
		if err := lock.Drop(context.WithoutCancel(ctx)); err != nil {
			slog.Warn("drop clip lock", "clip", clip, "err", err)
		}
	}()

	segs, err := b.encode(ctx, clip)
	if err != nil {
		return err
	}
	fields := make(map[string]any, len(segs))
	for _, s := range segs {
		fields[s.Name] = s.Millis
	}
	return b.rdb.HSet(ctx, "manifest:"+clip, fields).Err() // want:C|W
}
