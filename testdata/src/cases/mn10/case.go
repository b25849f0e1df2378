package mn10

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/leaderelection"
)

// Status answers questions about the election and routes reads.
type Status struct {
	el      *leaderelection.LeaderElector
	leading atomic.Bool
	lookup  func(ctx context.Context, name string) (any, error)
}

func (s *Status) Healthz(w http.ResponseWriter, _ *http.Request) {
	if err := s.el.Check(5 * time.Second); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusOK)
}

func (s *Status) Watch(ctx context.Context) {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		if is := s.el.IsLeader(); s.leading.Swap(is) != is {
			slog.InfoContext(ctx, "leadership changed", "leading", is, "leader", s.el.GetLeader())
		}
	}
}

func (s *Status) Item(w http.ResponseWriter, r *http.Request) {
	if !s.el.IsLeader() {
		u := &url.URL{Scheme: "http", Host: s.el.GetLeader()}
		httputil.NewSingleHostReverseProxy(u).ServeHTTP(w, r)
		return
	}
	v, err := s.lookup(r.Context(), r.PathValue("name"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		slog.Warn("write answer", "err", err)
	}
}
