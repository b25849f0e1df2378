package ud18

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

var ErrNotLeader = errors.New("not the leader")

var extend = redis.NewScript(`
if redis.call("GET", KEYS[1]) == ARGV[1] then
  return redis.call("PEXPIRE", KEYS[1], ARGV[2])
end
return 0`)

// leadership is what this node believes about its own lease.
type leadership struct {
	owner      string
	leaseUntil time.Time
}

type Node struct {
	rdb *redis.Client
	key string
	ttl time.Duration

	mu  sync.Mutex
	own leadership
}

// deadline is kept in UTC because the status page prints it.
func (n *Node) deadline(sent time.Time) time.Time {
	return sent.UTC().Add(n.ttl - n.ttl/4) // may:T
}

func (n *Node) Campaign(ctx context.Context) error { // may:M
	id, sent := uuid.NewString(), time.Now()
	ok, err := n.rdb.SetNX(ctx, n.key, id, n.ttl).Result()
	if err != nil {
		return err
	}
	if !ok {
		return ErrNotLeader
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.own = leadership{owner: id, leaseUntil: n.deadline(sent)}
	return nil
}

func (n *Node) Extend(ctx context.Context) error { // may:M
	n.mu.Lock()
	defer n.mu.Unlock()
	sent := time.Now()
	r, err := extend.Run(ctx, n.rdb, []string{n.key}, n.own.owner, n.ttl.Milliseconds()).Int64()
	if err != nil {
		return err
	}
	if r != 1 {
		n.own = leadership{}
		return ErrNotLeader
	}
	n.own.leaseUntil = n.deadline(sent)
	return nil
}

// Leading is asked before each step of the work.
func (n *Node) Leading() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.own.owner != "" && time.Now().Before(n.own.leaseUntil) // want:T
}
