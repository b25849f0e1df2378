package ht16

import (
	"context"
	"encoding/json"
	"sort"
	"time"

	"github.com/hashicorp/consul/api"
)

type member struct {
	Name     string    `json:"name"`
	LastBeat time.Time `json:"last_beat"`
}

// Leader picks the oldest member whose heartbeat is fresh; each node writes
// its own time.
func Leader(ctx context.Context, kv *api.KV, ttl time.Duration) (string, error) {
	pairs, _, err := kv.List("members/heartbeat/", new(api.QueryOptions).WithContext(ctx))
	if err != nil {
		return "", err
	}
	alive := make([]member, 0, len(pairs))
	for _, p := range pairs {
		var m member
		if err := json.Unmarshal(p.Value, &m); err != nil {
			continue
		}
		if m.LastBeat.Before(time.Now().Add(-ttl)) { // want:T
			continue
		}
		alive = append(alive, m)
	}
	if len(alive) == 0 {
		return "", nil
	}
	sort.Slice(alive, func(i, j int) bool { return alive[i].Name < alive[j].Name })
	return alive[0].Name, nil
}
