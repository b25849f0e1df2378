package hc07

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
)

const unlockLua = `if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end`

type item struct {
	GUID, Title string
}

type Fetcher struct {
	cache *redis.Client
	pool  *pgxpool.Pool
	fetch func(ctx context.Context, url string) ([]item, error)
}

// Poll goes through all feeds; feeds that another node polls are skipped.
func (f *Fetcher) Poll(ctx context.Context, feeds map[int64]string) error {
	for id, url := range feeds {
		key := "feed:busy:" + url
		tok := uuid.NewString()
		got, err := f.cache.SetNX(ctx, key, tok, time.Minute).Result()
		if err != nil {
			return err
		}
		if !got {
			continue
		}
		err = f.refresh(ctx, id, url)
		f.cache.Eval(ctx, unlockLua, []string{key}, tok)
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *Fetcher) refresh(ctx context.Context, id int64, url string) error {
	items, err := f.fetch(ctx, url)
	if err != nil || len(items) == 0 {
		return err
	}
	b := &pgx.Batch{}
	for _, it := range items {
		b.Queue(`UPDATE entries SET title = $3 WHERE feed_id = $1 AND guid = $2`, id, it.GUID, it.Title) // want:C
	}
	return f.pool.SendBatch(ctx, b).Close() // may:C
}
