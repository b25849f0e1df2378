package hn46

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/redis/go-redis/v9"
)

var errTaken = errors.New("name is taken")

type Accounts struct {
	db   *sqlx.DB
	rdb  *redis.Client
	host string
}

func New(db *sqlx.DB, rdb *redis.Client) *Accounts {
	h, _ := os.Hostname()
	return &Accounts{db: db, rdb: rdb, host: h}
}

// Create looks for the name first; that is a uniqueness check, no lock.
func (a *Accounts) Create(ctx context.Context, name string) (string, error) {
	var n int
	if err := a.db.GetContext(ctx, &n, `SELECT count(*) FROM accounts WHERE name = $1`, name); err != nil {
		return "", err
	}
	if n > 0 {
		return "", errTaken
	}
	id := uuid.NewString()
	if _, err := a.db.ExecContext(ctx, `INSERT INTO accounts (id, name, created_on) VALUES ($1, $2, $3)`, id, name, a.host); err != nil {
		return "", err
	}
	return id, nil
}

// Session is created when none exists; the token is random.
func (a *Accounts) Session(ctx context.Context, user string) (string, error) {
	key := "session:" + user
	if n, err := a.rdb.Exists(ctx, key).Result(); err != nil || n > 0 {
		return "", err
	}
	tok := uuid.NewString()
	return tok, a.rdb.Set(ctx, key, tok, 12*time.Hour).Err()
}

// Register keeps one row per host and refreshes it when it is this host's.
func (a *Accounts) Register(ctx context.Context, version string) error {
	var rows []struct {
		Host string `db:"host"`
	}
	if err := a.db.SelectContext(ctx, &rows, `SELECT host FROM servers`); err != nil {
		return err
	}
	for _, r := range rows {
		if r.Host == a.host {
			_, err := a.db.ExecContext(ctx, `UPDATE servers SET version = $2, seen_at = now() WHERE host = $1`, a.host, version)
			return err
		}
	}
	_, err := a.db.ExecContext(ctx, `INSERT INTO servers (host, version) VALUES ($1, $2)`, a.host, version)
	return err
}
