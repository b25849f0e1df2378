package uw23

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

var ErrStale = errors.New("instance is run by a newer agent")

type op int

const (
	opStart op = iota
	opStop
	opMigrate
)

// statements of the agent, one per operation.
var statements = map[op]string{
	opStart: `UPDATE vm_instance SET state = 'running', host = @host, fence_token = @token
		WHERE id = @id AND fence_token <= @token`,
	opStop: `UPDATE vm_instance SET state = 'stopped', host = NULL
		WHERE id = @id`,
	opMigrate: `UPDATE vm_instance SET host = @host
		WHERE id = @id AND state = 'running'`,
}

type Agent struct {
	pool  *pgxpool.Pool
	host  string
	token int64
}

func check(tag pgconn.CommandTag, err error) error {
	if err == nil && tag.RowsAffected() == 0 {
		return ErrStale
	}
	return err
}

func (a *Agent) Started(ctx context.Context, id string) error {
	return check(a.pool.Exec(ctx, statements[opStart], pgx.NamedArgs{"id": id, "host": a.host, "token": a.token}))
}

func (a *Agent) Stopped(ctx context.Context, id string) error {
	return check(a.pool.Exec(ctx, statements[opStop], pgx.NamedArgs{"id": id})) // want:W
}

func (a *Agent) Migrated(ctx context.Context, id, target string) error {
	return check(a.pool.Exec(ctx, statements[opMigrate], pgx.NamedArgs{"id": id, "host": target})) // want:W
}
