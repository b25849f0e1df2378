package storetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/fencedbtest"
)

// op is one operation on one resource, as it was called.
type op struct {
	kind  string // raise, write, read
	token int64
	value int64 // written
}

// answer is what it returned.
type answer struct {
	result fencedb.Result
	value  int64 // read
}

// fenced is what a resource under a guard is: a value, and the token of whoever may
// change it. An operation that failed may have happened or not.
var fenced = porcupine.NondeterministicModel{
	Init: func() []any { return []any{[2]int64{}} },
	Step: func(state, input, output any) []any {
		s, in, out := state.([2]int64), input.(op), output.(answer)
		guard, value := s[0], s[1]
		switch in.kind {
		case "read":
			if out.result == fencedb.Failed || out.value == value {
				return []any{s}
			}
			return nil
		case "raise":
			after := [2]int64{max(guard, in.token), value}
			switch {
			case out.result == fencedb.Failed:
				return []any{s, after}
			case (out.result == fencedb.Accepted) == (in.token >= guard):
				return []any{after}
			}
			return nil
		}
		after := [2]int64{guard, in.value}
		switch {
		case out.result == fencedb.Failed && in.token == guard:
			return []any{s, after}
		case out.result == fencedb.Failed:
			return []any{s}
		case out.result == fencedb.Accepted && in.token == guard:
			return []any{after}
		case out.result == fencedb.Stale && in.token < guard, out.result == fencedb.NotGranted && in.token > guard:
			return []any{s}
		}
		return nil
	},
	DescribeOperation: func(input, output any) string {
		in, out := input.(op), output.(answer)
		return fmt.Sprintf("%s(token %d, %d) -> %s %d", in.kind, in.token, in.value, out.result, out.value)
	},
}

// torture has writers with rising tokens write one resource, each pausing between its
// look at the guard and its write, and returns the history.
type torture struct {
	db       database
	guards   *fencedb.GuardTable
	table    string
	resource string
	// write sends one write of a value under a token.
	write func(ctx context.Context, w *torture, t fencedb.Token, value int64) error
}

// sides is how many processes want the resource.
const sides = 8

func (w *torture) run(t *testing.T, writes int) []porcupine.Operation {
	ctx := t.Context()
	if _, err := w.db.ExecContext(ctx, w.sql("INSERT INTO @t (id, value) VALUES (?, 0)"), w.resource); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var history []porcupine.Operation
	began := time.Now()
	do := func(client int, in op, f func() (answer, error)) {
		call := time.Since(began)
		out, err := f()
		back := time.Since(began)
		if out.result = fencedb.ResultOf(err); out.result == fencedb.Failed && !busy(err) {
			t.Errorf("%s: %v", in.kind, err)
		}
		mu.Lock()
		defer mu.Unlock()
		history = append(history, porcupine.Operation{ClientId: client, Input: in, Call: int64(call), Output: out, Return: int64(back)})
	}
	grants := fencedbtest.NewSequence(w.resource, 1)
	var values atomic.Int64
	var wg sync.WaitGroup
	for client := range sides {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(client), 1))
			var token fencedb.Token
			for n := range writes / sides {
				if n%8 == 0 { // a takeover, from whoever has it
					token = grants.Next()
					do(client, op{kind: "raise", token: token.Value()}, func() (answer, error) { return answer{}, w.guards.Raise(ctx, w.db, token) })
				}
				value := values.Add(1)
				do(client, op{"write", token.Value(), value}, func() (answer, error) { return answer{}, w.write(ctx, w, token, value) })
				if rnd.IntN(4) == 0 {
					do(client, op{kind: "read"}, func() (a answer, err error) {
						err = w.db.QueryRowContext(ctx, w.sql("SELECT value FROM @t WHERE id = ?"), w.resource).Scan(&a.value)
						return a, err
					})
				}
			}
		})
	}
	wg.Wait()
	return history
}

func (w *torture) sql(text string) string {
	text = strings.ReplaceAll(text, "@t", w.table)
	if w.db.dialect == fencedb.Postgres {
		for n := 1; strings.Contains(text, "?"); n++ {
			text = strings.Replace(text, "?", "$"+strconv.Itoa(n), 1)
		}
	}
	return text
}

// busy tells whether a database rejected a transaction for others', so that nothing of
// it happened.
func busy(err error) bool {
	for _, s := range []string{"SQLITE_BUSY", "deadlock", "Deadlock", "40001", "40P01", "Lock wait timeout"} {
		if strings.Contains(err.Error(), s) {
			return true
		}
	}
	return false
}

// The pauses between the look at the guard and the write. The twin's is long, so that a
// takeover falls into it on every database.
const (
	pause     = 2 * time.Millisecond
	twinPause = 30 * time.Millisecond
)

// inScope compares the token in the transaction of the write.
func inScope(ctx context.Context, w *torture, t fencedb.Token, value int64) error {
	return w.guards.InScope(ctx, w.db, t, nil, func(tx *sql.Tx) error {
		time.Sleep(pause)
		_, err := tx.ExecContext(ctx, w.sql("UPDATE @t SET value = ? WHERE id = ?"), value, w.resource)
		return err
	})
}

// checkedBefore is the twin: it compares the token, and then sends the write.
func checkedBefore(ctx context.Context, w *torture, t fencedb.Token, value int64) error {
	if err := w.guards.InScope(ctx, w.db, t, nil, nothing); err != nil {
		return err
	}
	time.Sleep(twinPause)
	_, err := w.db.ExecContext(ctx, w.sql("UPDATE @t SET value = ? WHERE id = ?"), value, w.resource)
	return err
}

// writesEnv is how many writes a torture makes; a tenth of what a release is tested
// with, unless it is set.
const writesEnv = "FENCE_TEST_WRITES"

// tortureWrites is how many writes a torture makes.
func tortureWrites(t *testing.T) int {
	t.Helper()
	s := os.Getenv(writesEnv)
	if s == "" {
		return 1000
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatalf("%s: %v", writesEnv, err)
	}
	return n
}

func TestTorture(t *testing.T) {
	writes := tortureWrites(t)
	eachDatabase(t, func(t *testing.T, db database) {
		guards := db.guards(t)
		table, err := db.dialect.Quote(db.name(t, "torture"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(t.Context(), "CREATE TABLE "+table+" (id varchar(64) NOT NULL PRIMARY KEY, value bigint NOT NULL)"); err != nil {
			t.Fatal(err)
		}
		// Histories of one resource are checked one by one: the time to check grows fast.
		const each = 200
		count := map[fencedb.Result]int{}
		for n := 0; n < writes; n += each {
			w := &torture{db, guards, table, fmt.Sprintf("r%d", n), inScope}
			history := w.run(t, each)
			for _, o := range history {
				if o.Input.(op).kind == "write" {
					count[o.Output.(answer).result]++
				}
			}
			if got := porcupine.CheckOperationsTimeout(fenced.ToModel(), history, time.Minute); got != porcupine.Ok {
				t.Fatalf("%s: a history of %d operations is %s", w.resource, len(history), got)
			}
		}
		t.Logf("writes: %v", count)
		if count[fencedb.Accepted] == 0 || count[fencedb.Stale] == 0 {
			t.Error("nothing was tried")
		}

		// The harness can fail: the unfenced twin is caught.
		for n := range 20 {
			w := &torture{db, guards, table, fmt.Sprintf("twin%d", n), checkedBefore}
			if porcupine.CheckOperationsTimeout(fenced.ToModel(), w.run(t, each), time.Minute) == porcupine.Illegal {
				t.Logf("the twin was caught in history %d", n+1)
				return
			}
		}
		t.Error(errors.New("20 histories of writes that compare nothing passed"))
	})
}
