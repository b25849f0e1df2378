// Package hn44 manages apartments: a lease is a contract with a tenant.
package hn44

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"gorm.io/gorm"
)

type Lease struct {
	ID        uint
	UnitID    uint
	TenantID  uint
	StartsOn  time.Time
	ExpiresAt time.Time
	Status    string
}

type Unit struct {
	ID      uint
	OwnerID uint
	Free    bool
}

var errOccupied = errors.New("unit is let")

type Lettings struct{ db *gorm.DB }

// Sign looks for a running contract and creates a new one.
func (l *Lettings) Sign(ctx context.Context, unit, tenant uint, until time.Time) error {
	var n int64
	if err := l.db.WithContext(ctx).Model(&Lease{}).Where("unit_id = ? AND status = ?", unit, "active").Count(&n).Error; err != nil {
		return err
	}
	if n > 0 {
		return errOccupied
	}
	return l.db.WithContext(ctx).Create(&Lease{UnitID: unit, TenantID: tenant, StartsOn: time.Now(), ExpiresAt: until, Status: "active"}).Error
}

func (l *Lettings) terminate(w http.ResponseWriter, r *http.Request) {
	id, _ := strconv.Atoi(r.PathValue("id"))
	landlord, _ := strconv.Atoi(r.Header.Get("X-User"))
	var u Unit
	if err := l.db.First(&u, id).Error; err != nil {
		http.NotFound(w, r)
		return
	}
	if u.OwnerID != uint(landlord) {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	l.db.Model(&u).Update("free", true)
}
