package uv05

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"example.com/corpus/cases/uv05/physical"
)

var errNotActive = errors.New("this node is not active")

// Leadership says whether this node may serve writes.
type Leadership interface{ IsActive() bool }

type Server struct {
	lead  Leadership
	store physical.Store
}

func New(l Leadership, st physical.Store) *Server { return &Server{lead: l, store: st} }

type policy struct {
	Name  string   `json:"name"`
	Paths []string `json:"paths"`
}

func (s *Server) writePolicy(ctx context.Context, p policy) error {
	if !s.lead.IsActive() {
		return errNotActive
	}
	raw, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return s.store.Put(ctx, "sys/policy/"+p.Name, raw) // may:C|W
}

func (s *Server) HandlePolicy(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodDelete {
		if !s.lead.IsActive() {
			http.Error(w, errNotActive.Error(), http.StatusServiceUnavailable)
			return
		}
		if err := s.store.Delete(r.Context(), "sys/policy/"+r.PathValue("name")); err != nil { // may:C|W
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
		return
	}
	var p policy
	if err := json.NewDecoder(r.Body).Decode(&p); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := s.writePolicy(r.Context(), p); err != nil { // may:C
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}
