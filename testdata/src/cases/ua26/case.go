// Package ua26 assigns game rooms to servers.
package ua26

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// swap replaces a value that has not changed since it was read.
var swap = redis.NewScript(`
local cur = redis.call("GET", KEYS[1])
if (cur == false and ARGV[1] == "") or cur == ARGV[1] then
  redis.call("SET", KEYS[1], ARGV[2])
  return 1
end
return 0`)

type seat struct {
	Server string `json:"server"`
	Until  int64  `json:"until"`
}

type Rooms struct {
	rdb    *redis.Client
	server string
	ttl    time.Duration
}

// Host makes this server the host of a room, or tells who is.
func (r *Rooms) Host(ctx context.Context, room string) (host string, err error) {
	key := "room:" + room + ":host"
	for range 3 {
		raw, err := r.rdb.Get(ctx, key).Result()
		if err != nil && !errors.Is(err, redis.Nil) {
			return "", err
		}
		if raw != "" {
			var s seat
			if err := json.Unmarshal([]byte(raw), &s); err != nil {
				return "", fmt.Errorf("room %s: %w", room, err)
			}
			if s.Server != r.server && s.Until > time.Now().Unix() { // want:T
				return s.Server, nil
			}
		}
		next, err := json.Marshal(seat{Server: r.server, Until: time.Now().Add(r.ttl).Unix()})
		if err != nil {
			return "", err
		}
		n, err := swap.Run(ctx, r.rdb, []string{key}, raw, next).Int()
		if err != nil {
			return "", fmt.Errorf("room %s: %w", room, err)
		}
		if n == 1 {
			return r.server, nil
		}
	}
	return "", fmt.Errorf("room %s: too much contention", room)
}
