package uc03

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strconv"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"
)

// Seasons closes ranked seasons. Every game server runs it; the lock decides
// which one rolls a region over.
type Seasons struct {
	rdb    *redis.Client
	locker *redislock.Client
}

func NewSeasons(rdb *redis.Client) *Seasons {
	return &Seasons{rdb: rdb, locker: redislock.New(rdb)}
}

func board(region string, season int) string {
	return fmt.Sprintf("ladder:%s:%d", region, season)
}

func (s *Seasons) Rollover(ctx context.Context, region string, season int) error {
	lk, err := s.locker.Obtain(ctx, "rollover:"+region, 20*time.Second, nil) // may:M
	if errors.Is(err, redislock.ErrNotObtained) {
		return nil
	} else if err != nil {
		return err
	}
	defer func() {
		if err := lk.Release(context.WithoutCancel(ctx)); err != nil {
			log.Printf("release rollover lock: %v", err)
		}
	}()

	top, err := s.rdb.ZRevRangeWithScores(ctx, board(region, season), 0, 99).Result()
	if err != nil {
		return err
	}
	seed := make([]redis.Z, 0, len(top))
	for _, z := range top {
		seed = append(seed, redis.Z{Member: z.Member, Score: decay(z.Score)})
	}
	if len(seed) > 0 {
		if err := s.rdb.ZAdd(ctx, board(region, season+1), seed...).Err(); err != nil { // want:C
			return err
		}
	}
	return s.current(ctx, region, season+1)
}

// current moves the pointer every server reads.
func (s *Seasons) current(ctx context.Context, region string, season int) error {
	return s.rdb.HSet(ctx, "season:current", region, strconv.Itoa(season)).Err() // want:C
}

func decay(v float64) float64 {
	if v < 1000 {
		return v
	}
	return 1000 + (v-1000)/2
}
