// Package api is what customers reach; it plans nothing.
package api

import (
	"database/sql"
	"encoding/json"
	"net/http"
)

type Server struct{ DB *sql.DB }

func (s *Server) Create(w http.ResponseWriter, r *http.Request) {
	var in struct{ Address, Carrier string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var id int64
	err := s.DB.QueryRowContext(r.Context(),
		`INSERT INTO shipment (address, carrier) VALUES ($1, $2) RETURNING id`, in.Address, in.Carrier).Scan(&id)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]int64{"id": id})
}

func (s *Server) SetAddress(w http.ResponseWriter, r *http.Request) {
	_, err := s.DB.ExecContext(r.Context(),
		`UPDATE shipment SET address = $2 WHERE id = $1`, r.PathValue("id"), r.FormValue("address"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}
