// Package un02 is a web shop: every replica serves requests, one of them also
// reports the backlog.
package un02

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"gorm.io/gorm"
)

type Order struct {
	ID       uint
	Customer uint
	State    string
	Address  string
	Note     string
}

type Shop struct {
	db      *gorm.DB
	session func(*http.Request) (customer uint, ok bool)
}

func (s *Shop) find(w http.ResponseWriter, r *http.Request) (*Order, bool) {
	who, ok := s.session(r)
	if !ok {
		http.Error(w, "log in first", http.StatusUnauthorized)
		return nil, false
	}
	id, err := strconv.ParseUint(r.PathValue("id"), 10, 64)
	if err != nil {
		http.NotFound(w, r)
		return nil, false
	}
	var o Order
	if err := s.db.WithContext(r.Context()).First(&o, id).Error; errors.Is(err, gorm.ErrRecordNotFound) {
		http.NotFound(w, r)
		return nil, false
	} else if err != nil {
		http.Error(w, "database", http.StatusInternalServerError)
		return nil, false
	}
	if o.Customer != who {
		http.Error(w, "not your order", http.StatusForbidden)
		return nil, false
	}
	return &o, true
}

// Cancel handles POST /orders/{id}/cancel.
func (s *Shop) Cancel(w http.ResponseWriter, r *http.Request) {
	o, ok := s.find(w, r)
	if !ok {
		return
	}
	if o.State != "new" {
		http.Error(w, "too late", http.StatusConflict)
		return
	}
	if err := s.db.WithContext(r.Context()).Model(o).Update("state", "cancelled").Error; err != nil {
		http.Error(w, "database", http.StatusInternalServerError)
	}
}

// Readdress handles PUT /orders/{id}/address.
func (s *Shop) Readdress(w http.ResponseWriter, r *http.Request) {
	o, ok := s.find(w, r)
	if !ok {
		return
	}
	var in struct{ Address, Note string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	o.Address, o.Note = in.Address, in.Note
	if err := s.db.WithContext(r.Context()).Save(o).Error; err != nil {
		http.Error(w, "database", http.StatusInternalServerError)
	}
}
