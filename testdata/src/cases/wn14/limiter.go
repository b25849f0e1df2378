package wn14

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// API has a request limit per key in Redis, and drops repeated deliveries of
// the same webhook event.
type API struct {
	rdb    *redis.Client
	db     *sql.DB
	limit  int64
	window time.Duration
}

func (a *API) allowed(ctx context.Context, apiKey string) (bool, time.Duration, error) {
	now := time.Now()
	slot := now.Truncate(a.window)
	key := fmt.Sprintf("rl:%s:%d", apiKey, slot.Unix())
	pipe := a.rdb.TxPipeline()
	n := pipe.Incr(ctx, key)
	pipe.Expire(ctx, key, 2*a.window)
	if _, err := pipe.Exec(ctx); err != nil {
		return false, 0, err
	}
	return n.Val() <= a.limit, slot.Add(a.window).Sub(now), nil
}

func (a *API) webhook(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	ok, wait, err := a.allowed(ctx, r.Header.Get("X-Api-Key"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if !ok {
		w.Header().Set("Retry-After", strconv.Itoa(int(wait.Seconds())+1))
		w.WriteHeader(http.StatusTooManyRequests)
		return
	}
	first, err := a.rdb.SetNX(ctx, "seen:"+r.Header.Get("X-Event-Id"), 1, 24*time.Hour).Result()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if !first {
		w.WriteHeader(http.StatusOK)
		return
	}
	_, err = a.db.ExecContext(ctx, `UPDATE shipments SET status = $2, status_at = now() WHERE tracking_no = $1`,
		r.FormValue("tracking"), r.FormValue("status"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}
