package un14

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/jmoiron/sqlx"
)

// ErrLost tells that the attempt has been given to somebody else.
var ErrLost = errors.New("attempt lost")

type attempt struct {
	ID     int64  `db:"id"`
	Input  string `db:"input"`
	Number int    `db:"attempt"`

	worker string
	until  time.Time // by this process's monotonic clock
}

type store struct {
	db     *sqlx.DB
	worker string
	ttl    time.Duration
}

func (s *store) claim(ctx context.Context) (*attempt, error) {
	sent := time.Now()
	a := attempt{worker: s.worker}
	err := s.db.GetContext(ctx, &a, `
		UPDATE ocr_job SET attempt = attempt + 1, worker = $1, lease_until = now() + $2 * interval '1 second'
		WHERE id = (SELECT id FROM ocr_job WHERE state = 'open' AND (lease_until IS NULL OR lease_until < now())
		            ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
		RETURNING id, input, attempt`, s.worker, s.ttl.Seconds())
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	a.until = sent.Add(s.ttl * 3 / 4)
	return &a, nil
}

func one(res sql.Result, err error) error {
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrLost
	}
	return nil
}

func (s *store) extend(ctx context.Context, a *attempt) error {
	sent := time.Now()
	if sent.After(a.until) {
		return ErrLost
	}
	ctx, cancel := context.WithDeadline(ctx, a.until)
	defer cancel()
	err := one(s.db.ExecContext(ctx, `
		UPDATE ocr_job SET lease_until = now() + $3 * interval '1 second'
		WHERE id = $1 AND attempt = $2 AND state = 'open' AND lease_until > now()`, a.ID, a.Number, s.ttl.Seconds()))
	if err != nil {
		return err
	}
	a.until = sent.Add(s.ttl * 3 / 4)
	return nil
}

func (s *store) finish(ctx context.Context, a *attempt, text string) error {
	return one(s.db.ExecContext(ctx, `
		UPDATE ocr_job SET state = 'done', output = $3 WHERE id = $1 AND attempt = $2 AND state = 'open'`, a.ID, a.Number, text))
}
