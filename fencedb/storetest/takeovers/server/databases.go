//go:build linux

package server

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	_ "github.com/go-sql-driver/mysql" // to ask whether it is ready
	_ "github.com/jackc/pgx/v5/stdlib"
)

// A Database is a PostgreSQL or MariaDB.
type Database struct {
	// Addr is where it listens, host and port.
	Addr string
	// Source is its data source when it is reached at an address, this or a proxy's.
	Source func(addr string) string

	process *process
	crash   syscall.Signal
}

// Postgres starts PostgreSQL below a directory. It keeps the times of its commits.
func Postgres(ctx context.Context, root string) (*Database, error) {
	bin, err := newestPostgres()
	if err != nil {
		return nil, err
	}
	dir, user, port, err := room(root, "postgres")
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	if err := prepare(ctx, dir, user, bin+"/initdb", "-D", data, "-U", "fence", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"); err != nil {
		return nil, err
	}
	d := &Database{
		Addr: fmt.Sprintf("127.0.0.1:%d", port),
		Source: func(addr string) string {
			return "postgres://fence@" + addr + "/postgres?sslmode=disable"
		},
		crash: syscall.SIGQUIT, // an immediate shutdown: no checkpoint, recovery at the start
	}
	d.process = &process{name: "PostgreSQL", dir: dir, asUser: user, log: filepath.Join(root, "postgres.log"), ready: d.ready("pgx"),
		args: []string{bin + "/postgres", "-D", data, "-p", strconv.Itoa(port), "-k", dir, "-c", "listen_addresses=127.0.0.1",
			"-c", "max_connections=200", "-c", "track_commit_timestamp=on"}}
	return d, d.process.start(ctx)
}

// room is where a server lives: its directory, the user it runs as, and its port.
func room(root, name string) (dir string, user *syscall.Credential, port int, err error) {
	if dir, user, err = workspace(root, name); err != nil {
		return "", nil, 0, err
	}
	port, err = free()
	return dir, user, port, err
}

func newestPostgres() (string, error) {
	all, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil {
		return "", fmt.Errorf("server: %w", err)
	}
	if len(all) == 0 {
		return "", fmt.Errorf("%w: PostgreSQL (package postgresql)", ErrMissing)
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path)))) // 0 if it is no number
		return n
	}
	return filepath.Dir(slices.MaxFunc(all, func(a, b string) int { return cmp.Compare(version(a), version(b)) })), nil
}

// MariaDB starts MariaDB below a directory.
func MariaDB(ctx context.Context, root string) (*Database, error) {
	install, err := exec.LookPath("mariadb-install-db")
	server, other := exec.LookPath("mariadbd")
	if other != nil {
		server, other = exec.LookPath("/usr/sbin/mariadbd") // which is often not in PATH
	}
	if err := errors.Join(err, other); err != nil {
		return nil, fmt.Errorf("%w: MariaDB (package mariadb-server): %w", ErrMissing, err)
	}
	dir, user, port, err := room(root, "mariadb")
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	if err := prepare(ctx, dir, user, install, "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=normal", "--skip-test-db"); err != nil {
		return nil, err
	}
	d := &Database{
		Addr: fmt.Sprintf("127.0.0.1:%d", port),
		Source: func(addr string) string {
			return "root@tcp(" + addr + ")/fence"
		},
		crash: syscall.SIGKILL,
	}
	d.process = &process{name: "MariaDB", dir: dir, asUser: user, log: filepath.Join(root, "mariadb.log"), env: []string{"TMPDIR=" + dir},
		args: []string{server, "--no-defaults", "--datadir=" + data, "--bind-address=127.0.0.1", "--port=" + strconv.Itoa(port),
			"--socket=" + filepath.Join(dir, "sock"), "--pid-file=" + filepath.Join(dir, "pid"), "--max-connections=200", "--skip-name-resolve"}}
	d.process.ready = func(ctx context.Context) error { return createDatabase(ctx, "root@tcp("+d.Addr+")/") }
	return d, d.process.start(ctx)
}

func createDatabase(ctx context.Context, source string) (err error) {
	db, err := sql.Open("mysql", source)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, "CREATE DATABASE IF NOT EXISTS fence")
	return err
}

func (d *Database) ready(driver string) func(context.Context) error {
	return func(ctx context.Context) (err error) {
		db, err := sql.Open(driver, d.Source(d.Addr))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, db.Close()) }()
		return db.PingContext(ctx)
	}
}

// Restart ends the server as a crash does, and starts it again: it recovers. It returns when
// the server is ready.
func (d *Database) Restart(ctx context.Context) error {
	if err := d.process.stop(d.crash); err != nil {
		return err
	}
	return d.process.start(ctx)
}

// Close ends the server.
func (d *Database) Close() error { return d.process.stop(d.crash) }
