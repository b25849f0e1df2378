package ub18

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"example.com/corpus/cases/ub18/ledger"
)

var unlock = redis.NewScript(`
if redis.call("GET", KEYS[1]) == ARGV[1] then
	return redis.call("DEL", KEYS[1])
end
return 0`)

// Runner does the nightly billing run on one of several instances.
type Runner struct {
	rdb    *redis.Client
	ledger ledger.Ledger
	price  map[string]int64
}

type session struct {
	r     *Runner
	nonce string
}

// begin returns nil when another instance has the run.
func (r *Runner) begin(ctx context.Context) (*session, error) {
	s := &session{r: r, nonce: uuid.NewString()}
	err := r.rdb.SetArgs(ctx, "billing:run", s.nonce, redis.SetArgs{Mode: "NX", TTL: 15 * time.Minute}).Err() // may:M
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (s *session) end(ctx context.Context) {
	_ = unlock.Run(context.WithoutCancel(ctx), s.r.rdb, []string{"billing:run"}, s.nonce).Err()
}

func (r *Runner) Nightly(ctx context.Context) error {
	s, err := r.begin(ctx)
	if err != nil {
		return err
	}
	if s == nil {
		return nil
	}
	defer s.end(ctx)

	cut := time.Now().UTC().Truncate(24 * time.Hour)
	subs, err := r.ledger.Due(ctx, cut)
	if err != nil {
		return fmt.Errorf("due: %w", err)
	}
	for _, sub := range subs {
		cents, ok := r.price[sub.Plan]
		if !ok {
			continue
		}
		if err := r.ledger.Charge(ctx, sub.ID, cents, cut.AddDate(0, 1, 0)); err != nil { // want:C
			return fmt.Errorf("subscription %d: %w", sub.ID, err)
		}
	}
	return nil
}
