package ud13

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/consul/api"
)

// InstanceDesc describes one ingester; it owns the tokens listed.
type InstanceDesc struct {
	Addr          string   `json:"addr"`
	Tokens        []uint32 `json:"tokens"`
	LastHeartbeat int64    `json:"last_heartbeat"` // unix seconds, by the instance
}

type Desc struct {
	Ingesters map[string]InstanceDesc `json:"ingesters"`
}

var errConflict = errors.New("ring changed meanwhile")

// Lifecycler keeps the ring clean of instances that are gone.
type Lifecycler struct {
	kv      *api.KV
	key     string
	timeout time.Duration
}

func (l *Lifecycler) load() (*Desc, uint64, error) {
	pair, _, err := l.kv.Get(l.key, &api.QueryOptions{RequireConsistent: true})
	if err != nil {
		return nil, 0, err
	}
	if pair == nil {
		return &Desc{Ingesters: map[string]InstanceDesc{}}, 0, nil
	}
	var d Desc
	if err := json.Unmarshal(pair.Value, &d); err != nil {
		return nil, 0, fmt.Errorf("decode ring: %w", err)
	}
	return &d, pair.ModifyIndex, nil
}

// Forget removes instances without a heartbeat; others take their tokens over.
func (l *Lifecycler) Forget() (int, error) {
	d, index, err := l.load()
	if err != nil {
		return 0, err
	}
	n := 0
	for id, inst := range d.Ingesters {
		last := time.Unix(inst.LastHeartbeat, 0)
		if time.Since(last) > l.timeout { // want:T
			delete(d.Ingesters, id)
			n++
		}
	}
	if n == 0 {
		return 0, nil
	}
	raw, err := json.Marshal(d)
	if err != nil {
		return 0, err
	}
	ok, _, err := l.kv.CAS(&api.KVPair{Key: l.key, Value: raw, ModifyIndex: index}, nil)
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, errConflict
	}
	return n, nil
}
