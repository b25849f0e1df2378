package uv25

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// Workers of a room take a lease; INCR of the generation comes with it.
var takeRoom = redis.NewScript(`
if redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then
  return redis.call("HINCRBY", KEYS[2], "gen", 1)
end
return 0`)

// savePlayers replaces the list of players of a room.
var savePlayers = redis.NewScript(`
redis.call("DEL", KEYS[2])
for i = 1, #ARGV do
  redis.call("RPUSH", KEYS[2], ARGV[i])
end
redis.call("HSET", KEYS[1], "players", #ARGV)
return #ARGV`)

var ErrTaken = errors.New("room is served elsewhere")

type Rooms struct{ rdb redis.UniversalClient }

// Room is served by this process until its lease runs out.
type Room struct {
	rs  *Rooms
	id  string
	Gen int64
}

func (r *Rooms) Take(ctx context.Context, id, node string, ttl time.Duration) (*Room, error) {
	gen, err := takeRoom.Run(ctx, r.rdb, []string{"{room:" + id + "}:lease", "{room:" + id + "}"}, node, ttl.Milliseconds()).Int64() // may:M
	if err != nil {
		return nil, err
	}
	if gen == 0 {
		return nil, ErrTaken
	}
	return &Room{rs: r, id: id, Gen: gen}, nil
}

// Save stores the players the process has in memory, without the generation.
func (r *Room) Save(ctx context.Context, players []int64) error {
	args := make([]any, len(players))
	for i, p := range players {
		args[i] = strconv.FormatInt(p, 10)
	}
	n, err := savePlayers.Run(ctx, r.rs.rdb, []string{"{room:" + r.id + "}", "{room:" + r.id + "}:players"}, args...).Int() // want:W
	if err != nil {
		return err
	}
	if n != len(players) {
		return errors.New("players were not saved completely")
	}
	return nil
}
