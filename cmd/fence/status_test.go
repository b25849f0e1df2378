package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/sqllease"
)

// command runs fence and wants an exit status.
func command(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	if got := run(args, &out, &errs); got != want {
		t.Fatalf("fence %s exited %d, want %d\n%s%s", strings.Join(args, " "), got, want, out.String(), errs.String())
	}
	return out.String(), errs.String()
}

// What operators see and do while a program holds leases on the same database.
func TestStatusAndLease(t *testing.T) {
	dsn := filepath.Join(t.TempDir(), "app.db")
	db, err := sql.Open("sqlite", "file:"+dsn+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(5000)&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, stderr := command(t, 3, "status", "--dsn", dsn); !strings.Contains(stderr, "fence lease migrate") {
		t.Errorf("a database without the tables: %s", stderr)
	}
	command(t, 0, "lease", "migrate", "--dsn", dsn)
	command(t, 0, "lease", "migrate", "--dsn", dsn)
	if _, stderr := command(t, 0, "status", "--dsn", dsn); stderr != "fence: namespace default has no leases\n" {
		t.Errorf("no leases: %s", stderr)
	}

	c, err := sqllease.New(db, fencedb.SQLite)
	if err != nil {
		t.Fatal(err)
	}
	nothing := func(context.Context, *fencedb.Lease) error { return nil }
	if err := fencedb.Hold(t.Context(), c, "orders:daily", nothing, fencedb.Owner("worker-a")); err != nil {
		t.Fatal(err)
	}
	err = fencedb.Hold(t.Context(), c, "orders:daily", func(ctx context.Context, l *fencedb.Lease) error {
		text, _ := command(t, 0, "status", "--dsn", dsn, "orders:daily")
		if lines := strings.Split(text, "\n"); len(lines) != 3 || !strings.Contains(lines[1], "worker-b") || !strings.Contains(lines[1], "worker-a, released") {
			t.Errorf("status:\n%s", text)
		}
		out, _ := command(t, 0, "status", "--dsn", dsn, "-f", "json")
		var got struct {
			Resource, State, Owner string
			Token                  int64
			LastOutcome            string `json:"last_outcome"`
			Remaining              struct{ Conservative, Store float64 }
			Predecessor            struct {
				Token int64
				End   string
			}
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatal(err)
		}
		if got.State != "held" || got.Owner != "worker-b" || got.Token != l.Token().Value() || got.Predecessor.Token != got.Token-1 || got.Predecessor.End != "released" {
			t.Errorf("status: %s", out)
		}
		if got.Remaining.Conservative <= 0 || got.Remaining.Conservative >= got.Remaining.Store || got.Remaining.Store > 15 {
			t.Errorf("remaining: %+v", got.Remaining)
		}

		command(t, 2, "lease", "break", "--dsn", dsn, "orders:daily") // no reason
		said, _ := command(t, 0, "lease", "break", "--dsn", dsn, "--actor", "ops", "--reason", "frozen", "orders:daily")
		if !strings.Contains(said, "which worker-b held") {
			t.Errorf("break: %s", said)
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Second):
			t.Error("the holder was not told at its next renewal")
		}
		return nil
	}, fencedb.Owner("worker-b"))
	if !errors.Is(err, fencedb.ErrSuperseded) {
		t.Errorf("Hold returned %v", err)
	}
	var actor, reason string
	if err := db.QueryRow("SELECT actor, reason FROM fence_audit").Scan(&actor, &reason); err != nil || actor != "ops" || reason != "frozen" {
		t.Errorf("the audit has %q, %q, %v", actor, reason, err)
	}

	command(t, 3, "lease", "break", "--dsn", dsn, "--reason", "x", "nobody:knows")
	command(t, 3, "status", "--dsn", dsn, "nobody:knows")
	command(t, 0, "lease", "advance", "--dsn", dsn, "--floor", "4711", "--reason", "restored")
	text, _ := command(t, 0, "lease", "cleanup", "--dsn", dsn, "--older-than", "24h")
	if text != "deleted 0 leases\n" {
		t.Errorf("cleanup: %s", text)
	}
	if err := fencedb.Hold(t.Context(), c, "another", func(_ context.Context, l *fencedb.Lease) error {
		if l.Token().Value() <= 4711 {
			t.Errorf("token %d after the counter was advanced", l.Token().Value())
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

func TestLeaseUsage(t *testing.T) {
	dsn := filepath.Join(t.TempDir(), "none.db")
	for _, test := range []struct {
		status int
		want   string
		args   []string
	}{
		{2, "write --dsn", []string{"status"}},
		{2, "--format", []string{"status", "--dsn", dsn, "-f", "yaml"}},
		{2, "--dialect", []string{"status", "--dsn", dsn, "--dialect", "oracle"}},
		{3, "there is no file", []string{"status", "--dsn", dsn}},
		{2, "namespace", []string{"status", "--dsn", "main.go", "--namespace", ""}},
		{2, "takes one resource", []string{"lease", "break", "--dsn", dsn, "--reason", "x"}},
		{2, "did you mean", []string{"lease", "brake"}},
		{2, "", []string{"lease"}},
		{2, "no argument", []string{"lease", "migrate", "x"}},
		{3, "127.0.0.1", []string{"status", "--dsn", "postgres://u:secret@127.0.0.1:1/db?connect_timeout=2"}},
	} {
		_, stderr := command(t, test.status, test.args...)
		if !strings.Contains(stderr, test.want) {
			t.Errorf("fence %s says %q, want %q", strings.Join(test.args, " "), stderr, test.want)
		}
		if strings.Contains(stderr, "secret") {
			t.Errorf("fence %s tells the password", strings.Join(test.args, " "))
		}
	}
}
