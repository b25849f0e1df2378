package wz32

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
)

var ErrReplaced = errors.New("room has a newer host")

// advance stores a field of the room unless a newer host has been there.
var advance = redis.NewScript(`
local cur = tonumber(redis.call('HGET', KEYS[1], 'fence') or '0')
local tok = tonumber(ARGV[1])
if cur > tok then
	return 0
end
redis.call('HSET', KEYS[1], 'fence', ARGV[1], ARGV[2], ARGV[3])
return 1
`)

func roomKey(room string) string { return "room:" + room }

// Host runs one game room.
type Host struct {
	rdb  *redis.Client
	room string

	//fence:token
	fence int64
}

func (h *Host) set(ctx context.Context, field, value string) error {
	n, err := advance.Run(ctx, h.rdb, []string{roomKey(h.room)}, h.fence, field, value).Int()
	if err != nil {
		return fmt.Errorf("room %s: %w", h.room, err)
	}
	if n == 0 {
		return ErrReplaced
	}
	return nil
}

func (h *Host) Turn(ctx context.Context, player string) error { return h.set(ctx, "turn", player) }

func (h *Host) State(ctx context.Context, blob string) error { return h.set(ctx, "state", blob) }

// Result writes two fields at once, which the script cannot.
func (h *Host) Result(ctx context.Context, winner string, points int64) error {
	if err := h.rdb.HSet(ctx, roomKey(h.room), "winner", winner, "points", points).Err(); err != nil { // want:W
		return fmt.Errorf("result of %s: %w", h.room, err)
	}
	return h.count(ctx, winner, points)
}

// count goes to another key, which is a mere statistic.
func (h *Host) count(ctx context.Context, winner string, points int64) error {
	return h.rdb.HSet(ctx, "leaderboard:"+winner, "last", points).Err()
}

func (h *Host) Players(ctx context.Context) ([]string, error) {
	return h.rdb.SMembers(ctx, "players:"+h.room).Result()
}
