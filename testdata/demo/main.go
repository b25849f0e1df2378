// Demo runs one race twice on an SQLite file: the owner of a lease pauses
// between its check and its write, and a successor writes in between.
//
// Nothing sleeps. The pause is a function that runs at that very point, so the
// order of events is the same every time.
package main

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite"

	"github.com/fencelint/fence/fencedb"

	"example.com/demo/right"
	"example.com/demo/wrong"
)

//go:embed schema.sql
var schema string

const (
	day = "monday"
	ttl = 30 * time.Second
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, w io.Writer) error {
	dir, err := os.MkdirTemp("", "fence-demo")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	fmt.Fprintln(w, "wrong: the lease is checked, then the schedule is written")
	plan, err := race(ctx, w, filepath.Join(dir, "wrong.db"), func(db *sql.DB, id string, pause func()) scheduler {
		s := wrong.New(db, id, ttl)
		s.Pause = pause
		return s
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "  the schedule is now: %s\n", plan)

	fmt.Fprintln(w, "right: the write itself compares the token")
	plan, err = race(ctx, w, filepath.Join(dir, "right.db"), func(db *sql.DB, id string, pause func()) scheduler {
		s := right.New(db, id, ttl)
		s.Pause = pause
		return s
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "  the schedule is now: %s\n", plan)
	return nil
}

// scheduler is what both versions do.
type scheduler interface {
	Acquire(context.Context) error
	Save(ctx context.Context, day, plan string) error
}

// race plays ada, who pauses, and bo, who takes over, and returns the plan that
// is left. Each has a database handle of its own, like two processes.
func race(ctx context.Context, w io.Writer, file string, newScheduler func(*sql.DB, string, func()) scheduler) (string, error) {
	adaDB, err := open(ctx, file)
	if err != nil {
		return "", err
	}
	defer adaDB.Close()
	if _, err := adaDB.ExecContext(ctx, schema); err != nil {
		return "", err
	}
	boDB, err := open(ctx, file)
	if err != nil {
		return "", err
	}
	defer boDB.Close()

	bo := newScheduler(boDB, "bo", func() {})
	var whilePaused error
	ada := newScheduler(adaDB, "ada", func() {
		fmt.Fprintln(w, "  ada pauses; her lease runs out")
		whilePaused = errors.Join(
			expire(ctx, boDB),
			bo.Acquire(ctx),
			bo.Save(ctx, day, "bo's plan"),
		)
		fmt.Fprintln(w, "  bo takes over and writes bo's plan")
	})

	if err := ada.Acquire(ctx); err != nil {
		return "", err
	}
	fmt.Fprintln(w, "  ada owns the lease and is about to write ada's plan")
	err = ada.Save(ctx, day, "ada's plan")
	if whilePaused != nil {
		return "", whilePaused
	}
	switch {
	case errors.Is(err, fencedb.ErrStale):
		fmt.Fprintf(w, "  ada wakes up and writes: %v\n", err)
	case err != nil:
		return "", err
	default:
		fmt.Fprintln(w, "  ada wakes up and writes: accepted")
	}

	var plan string
	err = boDB.QueryRowContext(ctx, `SELECT plan FROM schedules WHERE day = ?`, day).Scan(&plan)
	return plan, err
}

func open(ctx context.Context, file string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", file)
	if err != nil {
		return nil, err
	}
	return db, db.PingContext(ctx)
}

// expire lets the time of every lease run out. It stands for the clock.
func expire(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, `UPDATE leases SET expires_at = 0`)
	return err
}
