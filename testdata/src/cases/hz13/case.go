package hz13

import (
	"context"
	"database/sql"
	"errors"
	"time"

	sq "github.com/Masterminds/squirrel"
)

var psql = sq.StatementBuilder.PlaceholderFormat(sq.Dollar)

// Reminder is due at RunAt and repeats every Every.
type Reminder struct {
	ID    int64
	RunAt time.Time
	Every time.Duration
	Text  string
}

type Scheduler struct {
	db   *sql.DB
	now  func() time.Time
	send func(ctx context.Context, tx *sql.Tx, text string) error // queues the message in tx
}

func New(db *sql.DB, send func(context.Context, *sql.Tx, string) error) *Scheduler {
	return &Scheduler{db: db, now: time.Now, send: send}
}

// next takes one due reminder; the row stays locked until the commit.
func (s *Scheduler) next(ctx context.Context) (done bool, err error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer tx.Rollback()

	now := s.now()
	var r Reminder
	var every int64
	err = psql.Select("id", "run_at", "every_seconds", "text").From("reminders").
		Where(sq.LtOrEq{"run_at": now}).
		OrderBy("run_at").Limit(1).Suffix("FOR UPDATE SKIP LOCKED").
		RunWith(tx).QueryRowContext(ctx).Scan(&r.ID, &r.RunAt, &every, &r.Text)
	if errors.Is(err, sql.ErrNoRows) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	r.Every = time.Duration(every) * time.Second

	if err := s.send(ctx, tx, r.Text); err != nil {
		return false, err
	}
	at := r.RunAt.Add(r.Every)
	for at.Before(now) { // skip what was missed while we were down
		at = at.Add(r.Every)
	}
	_, err = psql.Update("reminders").Set("run_at", at).Where(sq.Eq{"id": r.ID}).RunWith(tx).ExecContext(ctx)
	if err != nil {
		return false, err
	}
	return false, tx.Commit()
}

func (s *Scheduler) Run(ctx context.Context) error {
	for {
		done, err := s.next(ctx)
		if err != nil {
			return err
		}
		if !done {
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(15 * time.Second):
		}
	}
}
