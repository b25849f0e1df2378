package ub04

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"

	"github.com/jmoiron/sqlx"
)

// Rotator re-encrypts old secrets; one instance of the service at a time. The
// advisory lock lives on its own connection, the work goes through the pool.
type Rotator struct {
	db     *sqlx.DB
	reseal func(old []byte, to int) ([]byte, error)
}

type secret struct {
	ID     int64  `db:"id"`
	Sealed []byte `db:"sealed"`
}

func lockID(name string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return int64(h.Sum64() >> 1)
}

func tryLock(ctx context.Context, db *sqlx.DB, name string) (ok bool, unlock func(), err error) {
	conn, err := db.Connx(ctx)
	if err != nil {
		return false, nil, err
	}
	id := lockID(name)
	if err := conn.GetContext(ctx, &ok, `SELECT pg_try_advisory_lock($1)`, id); err != nil || !ok {
		return false, nil, errors.Join(err, conn.Close())
	}
	return true, func() {
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, id)
		_ = conn.Close()
	}, nil
}

func (r *Rotator) Rotate(ctx context.Context, to int) (int, error) {
	ok, unlock, err := tryLock(ctx, r.db, "secrets/rotate")
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, nil
	}
	defer unlock()

	var done int
	for {
		var s secret
		err := r.db.GetContext(ctx, &s, `SELECT id, sealed FROM secret WHERE key_version < $1 ORDER BY id LIMIT 1`, to)
		if errors.Is(err, sql.ErrNoRows) {
			return done, nil
		}
		if err != nil {
			return done, err
		}
		b, err := r.reseal(s.Sealed, to)
		if err != nil {
			return done, fmt.Errorf("secret %d: %w", s.ID, err)
		}
		_, err = r.db.ExecContext(ctx, `UPDATE secret SET sealed = $2, key_version = $3 WHERE id = $1`, s.ID, b, to) // want:C
		if err != nil {
			return done, err
		}
		done++
	}
}
