// Package un13 lets upload workers report progress; Redis compares the claim in
// the same script that changes the record.
package un13

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

var ErrClaimLost = errors.New("claim was lost")

var (
	advance = redis.NewScript(`
if redis.call("GET", KEYS[1]) ~= ARGV[1] then
  return 0
end
redis.call("PEXPIRE", KEYS[1], ARGV[2])
redis.call("HSET", KEYS[2], "offset", ARGV[3])
return 1`)

	finish = redis.NewScript(`
if redis.call("GET", KEYS[1]) ~= ARGV[1] then
  return 0
end
redis.call("HSET", KEYS[2], "state", "stored", "etag", ARGV[2])
redis.call("DEL", KEYS[1])
return 1`)
)

// Claim is the right to move one upload forward.
type Claim struct {
	rdb    redis.Scripter
	upload string
	secret string
	ttl    time.Duration
}

type Uploads struct {
	rdb *redis.Client
	ttl time.Duration
}

// Claim returns nil if another worker has the upload.
func (u *Uploads) Claim(ctx context.Context, upload string) (*Claim, error) {
	c := &Claim{rdb: u.rdb, upload: upload, secret: uuid.NewString(), ttl: u.ttl}
	ok, err := u.rdb.SetNX(ctx, c.key(), c.secret, u.ttl).Result()
	if err != nil {
		return nil, fmt.Errorf("claim %s: %w", upload, err)
	}
	if !ok {
		return nil, nil
	}
	return c, nil
}

func (c *Claim) key() string { return "upload:" + c.upload + ":claim" }

func (c *Claim) keys() []string { return []string{c.key(), "upload:" + c.upload} }

func (c *Claim) result(n int64, err error) error {
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrClaimLost
	}
	return nil
}

// Advance stores the offset and keeps the claim.
func (c *Claim) Advance(ctx context.Context, offset int64) error {
	return c.result(advance.Run(ctx, c.rdb, c.keys(), c.secret, c.ttl.Milliseconds(), offset).Int64())
}

// Finish stores the outcome and gives the claim back.
func (c *Claim) Finish(ctx context.Context, etag string) error {
	return c.result(finish.Run(ctx, c.rdb, c.keys(), c.secret, etag).Int64())
}
