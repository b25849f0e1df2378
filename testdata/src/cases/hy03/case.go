package hy03

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/consul/api"
)

// lockRecord is the value of the KV entry that stands for a migration lock.
type lockRecord struct {
	Holder    string    `json:"holder"`
	Reason    string    `json:"reason"`
	ExpiresAt time.Time `json:"expires_at"`
}

func (r lockRecord) heldByOther(me string) bool {
	return r.Holder != me && time.Now().Before(r.ExpiresAt) // want:T
}

type Migrator struct {
	kv   *api.KV
	me   string
	ttl  time.Duration
	path string
}

var ErrBusy = errors.New("another migration is running")

// acquire writes its record over an absent or expired one. The write is a CAS.
func (m *Migrator) acquire(reason string) (uint64, error) {
	pair, _, err := m.kv.Get(m.path, nil)
	if err != nil {
		return 0, fmt.Errorf("read lock: %w", err)
	}
	var index uint64
	if pair != nil {
		var cur lockRecord
		if err := json.Unmarshal(pair.Value, &cur); err != nil {
			return 0, fmt.Errorf("lock record: %w", err)
		}
		if cur.heldByOther(m.me) { // may:T
			return 0, fmt.Errorf("%w: %s (%s)", ErrBusy, cur.Holder, cur.Reason)
		}
		index = pair.ModifyIndex
	}
	val, err := json.Marshal(lockRecord{Holder: m.me, Reason: reason, ExpiresAt: time.Now().Add(m.ttl)}) // may:T
	if err != nil {
		return 0, err
	}
	ok, _, err := m.kv.CAS(&api.KVPair{Key: m.path, Value: val, ModifyIndex: index}, nil)
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, ErrBusy
	}
	pair, _, err = m.kv.Get(m.path, nil)
	if err != nil || pair == nil {
		return 0, errors.Join(err, ErrBusy)
	}
	return pair.ModifyIndex, nil
}

func (m *Migrator) release(index uint64) error {
	_, _, err := m.kv.DeleteCAS(&api.KVPair{Key: m.path, ModifyIndex: index}, nil)
	return err
}
