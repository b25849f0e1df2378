package vn09

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
)

// Hooks takes payment events from a provider that delivers at least once.
type Hooks struct {
	pool  *pgxpool.Pool
	rdb   *redis.Client
	limit int64
}

type event struct {
	ID    string `json:"id"`
	Order int64  `json:"order"`
	Kind  string `json:"kind"`
}

// allow is a fixed-window rate limit per caller.
func (h *Hooks) allow(ctx context.Context, ip string) (bool, error) {
	key := "rate:" + ip + ":" + time.Now().UTC().Format("200601021504")
	n, err := h.rdb.Incr(ctx, key).Result()
	if err != nil {
		return false, err
	}
	if n == 1 {
		if err := h.rdb.Expire(ctx, key, 2*time.Minute).Err(); err != nil {
			return false, err
		}
	}
	return n <= h.limit, nil
}

func (h *Hooks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ok, err := h.allow(r.Context(), r.RemoteAddr)
	if err != nil || !ok {
		http.Error(w, "slow down", http.StatusTooManyRequests)
		return
	}
	var e event
	if err := json.NewDecoder(r.Body).Decode(&e); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := h.apply(r.Context(), e); err != nil {
		http.Error(w, "try again", http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (h *Hooks) apply(ctx context.Context, e event) error {
	return pgx.BeginFunc(ctx, h.pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `INSERT INTO processed_event (id, seen_at) VALUES ($1, now()) ON CONFLICT (id) DO NOTHING`, e.ID)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return nil // delivered before
		}
		state := "paid"
		if e.Kind == "refund" {
			state = "refunded"
		}
		_, err = tx.Exec(ctx, `UPDATE shop_order SET state = $2 WHERE id = $1`, e.Order, state)
		return err
	})
}
