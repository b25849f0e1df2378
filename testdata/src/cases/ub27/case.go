package ub27

import (
	"context"
	"fmt"
	"time"

	sq "github.com/Masterminds/squirrel"
)

type Clock interface{ Now() time.Time }

type system struct{}

func (system) Now() time.Time { return time.Now() }

// Queue stores notifications; a consumer leases a message while it works.
type Queue struct {
	run   sq.StdSqlCtx
	b     sq.StatementBuilderType
	clock Clock
}

type Option func(*Queue)

func WithClock(c Clock) Option { return func(q *Queue) { q.clock = c } }

func NewQueue(run sq.StdSqlCtx, opts ...Option) *Queue {
	q := &Queue{run: run, b: sq.StatementBuilder.PlaceholderFormat(sq.Dollar), clock: system{}}
	for _, o := range opts {
		o(q)
	}
	return q
}

// Requeue frees what crashed consumers left behind.
func (q *Queue) Requeue(ctx context.Context) (int64, error) {
	res, err := q.b.Update("message").
		Set("consumer", nil).
		Set("leased_until", nil).
		Where(sq.NotEq{"consumer": nil}).
		Where(sq.Lt{"leased_until": q.clock.Now()}). // want:T
		RunWith(q.run).ExecContext(ctx)
	if err != nil {
		return 0, fmt.Errorf("requeue: %w", err)
	}
	return res.RowsAffected()
}

// Prune drops what was delivered long ago.
func (q *Queue) Prune(ctx context.Context, keep time.Duration) error {
	_, err := q.b.Delete("message").
		Where(sq.Lt{"delivered_at": q.clock.Now().Add(-keep)}).
		RunWith(q.run).ExecContext(ctx)
	return err
}
