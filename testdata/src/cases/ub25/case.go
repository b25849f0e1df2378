package ub25

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// Seat is the single active consumer of a queue. The key has no TTL: it also
// carries the offset, which must outlive a crash.
type Seat struct {
	rdb   *redis.Client
	queue string
	me    string
}

type seatValue struct {
	Consumer string `json:"consumer"`
	UntilMS  int64  `json:"until_ms"`
	Offset   int64  `json:"offset"`
}

var ErrOccupied = errors.New("another consumer sits here")

func NewSeat(rdb *redis.Client, queue string) *Seat {
	return &Seat{rdb: rdb, queue: queue, me: uuid.NewString()}
}

func (s *Seat) key() string { return "seat:" + s.queue }

// Sit takes or keeps the seat and returns where to go on. WATCH makes the
// write conditional on the value that was read.
func (s *Seat) Sit(ctx context.Context, d time.Duration) (offset int64, err error) {
	err = s.rdb.Watch(ctx, func(tx *redis.Tx) error {
		var v seatValue
		raw, err := tx.Get(ctx, s.key()).Bytes()
		switch {
		case errors.Is(err, redis.Nil):
		case err != nil:
			return err
		default:
			if err := json.Unmarshal(raw, &v); err != nil {
				return fmt.Errorf("seat %s: %w", s.queue, err)
			}
		}
		now := time.Now().UnixMilli()
		if v.Consumer != "" && v.Consumer != s.me && now < v.UntilMS { // want:T
			return ErrOccupied
		}
		v.Consumer, v.UntilMS = s.me, now+d.Milliseconds() // may:T
		raw, err = json.Marshal(v)
		if err != nil {
			return err
		}
		_, err = tx.TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.Set(ctx, s.key(), raw, 0) // may:T
			return nil
		})
		offset = v.Offset
		return err
	}, s.key())
	if errors.Is(err, redis.TxFailedErr) {
		return 0, ErrOccupied
	}
	return offset, err
}
