//go:build linux

package takeovers

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/storetest/takeovers/journal"
	"github.com/fencelint/fence/fencedb/storetest/takeovers/server"
	"github.com/fencelint/fence/fencedb/storetest/takeovers/worker"
)

// A store is one that a run can have; start starts it below a directory.
type store struct {
	name  string
	ttl   time.Duration
	start func(ctx context.Context, root string) (*running, error)
}

// running is a store that was started.
type running struct {
	targets []string                                                // where workers connect, each through a proxy; none if it is a file
	sources func(addrs []string) []string                           // a worker's, whose proxies to the targets listen at addrs
	rows    func(ctx context.Context) ([]journal.Row, error)        // what it kept
	down    func(ctx context.Context, n int, d time.Duration) error // has it away for about d; n is of a fault
	close   func() error
}

var stores = []store{
	{"sqlite", time.Second, startSQLite},
	{"postgres", 1500 * time.Millisecond, func(ctx context.Context, root string) (*running, error) {
		return startDatabase(ctx, root, fencedb.Postgres, server.Postgres)
	}},
	{"mariadb", 1500 * time.Millisecond, func(ctx context.Context, root string) (*running, error) {
		return startDatabase(ctx, root, fencedb.MariaDB, server.MariaDB)
	}},
	{"etcd", time.Second, startEtcd},
}

// startSQLite: there is no server to restart and no network. What comes nearest is another
// process that keeps the file locked.
func startSQLite(ctx context.Context, root string) (*running, error) {
	source := "file:" + filepath.Join(root, "leases.db") + "?_pragma=journal_mode(wal)&_pragma=busy_timeout(300)&_txlock=immediate"
	db, err := worker.OpenDatabase(ctx, fencedb.SQLite, source)
	if err != nil {
		return nil, err
	}
	return &running{
		sources: func([]string) []string { return []string{source} },
		rows:    db.Rows,
		down: func(ctx context.Context, _ int, d time.Duration) error {
			for {
				tx, err := db.BeginTx(ctx, nil)
				if err != nil {
					if ctx.Err() != nil {
						return err
					}
					continue // others have it locked
				}
				time.Sleep(d)
				return tx.Rollback()
			}
		},
		close: db.Close,
	}, nil
}

func startDatabase(ctx context.Context, root string, d fencedb.Dialect, start func(context.Context, string) (*server.Database, error)) (*running, error) {
	s, err := start(ctx, root)
	if err != nil {
		return nil, err
	}
	db, err := worker.OpenDatabase(ctx, d, s.Source(s.Addr))
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &running{
		targets: []string{s.Addr},
		sources: func(addrs []string) []string { return []string{s.Source(addrs[0])} },
		rows:    db.Rows,
		down:    func(ctx context.Context, _ int, _ time.Duration) error { return s.Restart(ctx) },
		close:   func() error { return errors.Join(db.Close(), s.Close()) },
	}, nil
}

// startEtcd: the members are processes of this binary, see TestMain.
func startEtcd(ctx context.Context, root string) (*running, error) {
	e, err := server.StartEtcd(ctx, root, []string{os.Args[0]}, etcdRole)
	if err != nil {
		return nil, err
	}
	client, err := worker.Dial(e.Addrs[:])
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	sources := func(addrs []string) []string {
		var all []string
		for _, a := range addrs {
			all = append(all, "http://"+a)
		}
		return all
	}
	return &running{
		targets: e.Addrs[:],
		sources: sources,
		rows:    func(ctx context.Context) ([]journal.Row, error) { return worker.EtcdRows(ctx, client) },
		down: func(ctx context.Context, n int, d time.Duration) error {
			member := n % len(e.Addrs)
			if err := e.Stop(member); err != nil {
				return err
			}
			time.Sleep(d)
			return e.Start(ctx, member)
		},
		close: func() error { return errors.Join(client.Close(), e.Close()) },
	}, nil
}
