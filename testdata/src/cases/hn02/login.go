package hn02

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

var (
	ErrLocked = errors.New("account is locked, try later")
	ErrBad    = errors.New("bad credentials")
)

type account struct {
	id          int64
	hash        []byte
	failed      int
	lockedUntil sql.NullTime
}

type Auth struct {
	db    *sql.DB
	check func(hash, pw []byte) bool
}

// Login locks an account for a while after five failures. Nothing here is a
// lease: the time is a penalty, not somebody's ownership.
func (a *Auth) Login(ctx context.Context, email string, pw []byte) (int64, error) {
	var acc account
	err := a.db.QueryRowContext(ctx,
		`SELECT id, password_hash, failed_attempts, locked_until FROM accounts WHERE email = $1`, email).
		Scan(&acc.id, &acc.hash, &acc.failed, &acc.lockedUntil)
	if err != nil {
		return 0, err
	}
	if acc.lockedUntil.Valid && time.Now().Before(acc.lockedUntil.Time) {
		return 0, ErrLocked
	}
	if !a.check(acc.hash, pw) {
		acc.failed++
		var until any
		if acc.failed >= 5 {
			until = time.Now().Add(15 * time.Minute)
		}
		if _, err := a.db.ExecContext(ctx,
			`UPDATE accounts SET failed_attempts = $2, locked_until = $3 WHERE id = $1`, acc.id, acc.failed, until); err != nil {
			return 0, err
		}
		return 0, ErrBad
	}
	_, err = a.db.ExecContext(ctx, `UPDATE accounts SET failed_attempts = 0, locked_until = NULL WHERE id = $1`, acc.id)
	return acc.id, err
}

// Unlock frees accounts whose penalty is over.
func (a *Auth) Unlock(ctx context.Context) error {
	_, err := a.db.ExecContext(ctx, `UPDATE accounts SET locked_until = NULL WHERE locked_until < $1`, time.Now())
	return err
}
