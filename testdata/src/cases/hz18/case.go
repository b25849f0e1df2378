// Package hz18 receives payment webhooks. Providers deliver more than once; a
// key in redis drops the copies early.
package hz18

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/redis/go-redis/v9"
)

type Event struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Invoice string `json:"invoice"`
	Amount  int64  `json:"amount"`
}

type Hooks struct {
	rdb *redis.Client
	db  *sqlx.DB
}

func (h *Hooks) firstTime(ctx context.Context, id string) (bool, error) {
	return h.rdb.SetNX(ctx, "webhook:seen:"+id, time.Now().Unix(), 72*time.Hour).Result()
}

func (h *Hooks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var e Event
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&e); err != nil {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	fresh, err := h.firstTime(r.Context(), e.ID)
	if err != nil {
		http.Error(w, "try again", http.StatusServiceUnavailable)
		return
	}
	if !fresh {
		w.WriteHeader(http.StatusOK)
		return
	}
	if err := h.apply(r.Context(), e); err != nil {
		http.Error(w, "try again", http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusOK)
}

func (h *Hooks) apply(ctx context.Context, e Event) error {
	switch e.Type {
	case "invoice.paid":
		_, err := h.db.ExecContext(ctx, `UPDATE invoices SET state = 'paid', paid_amount = ? WHERE number = ?`, e.Amount, e.Invoice)
		return err
	case "invoice.voided":
		_, err := h.db.ExecContext(ctx, `UPDATE invoices SET state = 'void' WHERE number = ?`, e.Invoice)
		return err
	}
	return nil
}

// throttle allows a client one request per window.
func (h *Hooks) throttle(next http.Handler, window time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ok, err := h.rdb.SetNX(r.Context(), "throttle:"+r.RemoteAddr, 1, window).Result()
		if err == nil && !ok {
			http.Error(w, "slow down", http.StatusTooManyRequests)
			return
		}
		next.ServeHTTP(w, r)
	})
}
