package hx06

import (
	"context"
	"errors"
	"time"

	"github.com/bsm/redislock"
	"github.com/jmoiron/sqlx"
)

var ErrInsufficient = errors.New("insufficient funds")

type account struct {
	ID      string `db:"id"`
	Balance int64  `db:"balance"`
}

type Ledger interface {
	Load(ctx context.Context, id string) (account, error)
	Store(ctx context.Context, a account) error
}

type sqlLedger struct{ db *sqlx.DB }

func (l *sqlLedger) Load(ctx context.Context, id string) (account, error) {
	var a account
	err := l.db.GetContext(ctx, &a, `SELECT id, balance FROM accounts WHERE id = ?`, id)
	return a, err
}

func (l *sqlLedger) Store(ctx context.Context, a account) error {
	_, err := l.db.NamedExecContext(ctx, `UPDATE accounts SET balance = :balance WHERE id = :id`, a) // may:C
	return err
}

// Service moves money. The wallet is locked in redis for the whole transfer.
type Service struct {
	locks  *redislock.Client
	ledger Ledger
}

func NewService(rc redislock.RedisClient, db *sqlx.DB) *Service {
	return &Service{locks: redislock.New(rc), ledger: &sqlLedger{db: db}}
}

func (s *Service) Withdraw(ctx context.Context, id string, amount int64) error { // may:M
	lock, err := s.locks.Obtain(ctx, "wallet:"+id, 5*time.Second, &redislock.Options{
		RetryStrategy: redislock.LimitRetry(redislock.LinearBackoff(100*time.Millisecond), 20),
	})
	if errors.Is(err, redislock.ErrNotObtained) {
		return errors.New("wallet is busy")
	}
	if err != nil {
		return err
	}
	defer lock.Release(context.WithoutCancel(ctx))

	a, err := s.ledger.Load(ctx, id)
	if err != nil {
		return err
	}
	if a.Balance < amount {
		return ErrInsufficient
	}
	a.Balance -= amount
	return s.ledger.Store(ctx, a) // want:C
}
