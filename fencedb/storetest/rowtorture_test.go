package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/fencedbtest"
)

// fencedRow is what one row under a row guard is: the largest token it was written with,
// and the value that was written last. There is no raise: a token closes the row with its
// first write.
var fencedRow = porcupine.NondeterministicModel{
	Init: func() []any { return []any{[2]int64{}} },
	Step: func(state, input, output any) []any {
		s, in, out := state.([2]int64), input.(op), output.(answer)
		if in.kind == "read" {
			if out.result == fencedb.Failed || out.value == s[1] {
				return []any{s}
			}
			return nil
		}
		after := [2]int64{in.token, in.value}
		switch {
		case out.result == fencedb.Failed && in.token >= s[0]:
			return []any{s, after}
		case out.result == fencedb.Failed:
			return []any{s}
		case out.result == fencedb.Accepted && in.token >= s[0]:
			return []any{after}
		case out.result == fencedb.Stale && in.token < s[0]:
			return []any{s}
		}
		return nil
	},
	DescribeOperation: func(input, output any) string {
		in, out := input.(op), output.(answer)
		return fmt.Sprintf("%s(token %d, %d) -> %s %d", in.kind, in.token, in.value, out.result, out.value)
	},
}

// TestRowTorture has writers with rising tokens write one row by the generated writer, now
// by Update and now by Upsert, each with pauses.
func TestRowTorture(t *testing.T) {
	eachWriters(t, func(t *testing.T, db database, w writerSet) {
		const each = 200
		count := map[fencedb.Result]int{}
		for n := range tortureWrites(t) / each {
			id := fmt.Sprintf("row%d", n)
			if err := w.docs(db, fencedbtest.Token("docs", 1)).Insert(t.Context(), docsRow{id, nil, 0}); err != nil {
				t.Fatal(err)
			}
			history := rowHistory(t, db, w, id, each)
			for _, o := range history {
				if o.Input.(op).kind == "write" {
					count[o.Output.(answer).result]++
				}
			}
			if got := porcupine.CheckOperationsTimeout(fencedRow.ToModel(), history, time.Minute); got != porcupine.Ok {
				t.Fatalf("%s: a history of %d operations is %s", id, len(history), got)
			}
		}
		t.Logf("writes: %v", count)
		if count[fencedb.Accepted] == 0 || count[fencedb.Stale] == 0 {
			t.Error("nothing was tried")
		}
	})
}

// rowHistory writes a row from many sides, and returns what they did and saw.
func rowHistory(t *testing.T, db database, w writerSet, id string, writes int) []porcupine.Operation {
	ctx := t.Context()
	var mu sync.Mutex
	var history []porcupine.Operation
	began := time.Now()
	do := func(client int, in op, f func() (int64, error)) {
		call := time.Since(began)
		value, err := f()
		back := time.Since(began)
		out := answer{fencedb.ResultOf(err), value}
		if out.result == fencedb.Failed && !busy(err) {
			t.Errorf("%s: %v", in.kind, err)
		}
		mu.Lock()
		defer mu.Unlock()
		history = append(history, porcupine.Operation{ClientId: client, Input: in, Call: int64(call), Output: out, Return: int64(back)})
	}
	grants := fencedbtest.NewSequence("docs", 2)
	var wg sync.WaitGroup
	for client := range sides {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(client), 2))
			var token fencedb.Token
			for n := range writes / sides {
				if n%4 == 0 {
					token = grants.Next()
				}
				time.Sleep(time.Duration(rnd.IntN(3)) * time.Millisecond)
				value := token.Value()*1000 + int64(n)
				do(client, op{"write", token.Value(), value}, func() (int64, error) {
					return 0, writeRow(ctx, w.docs(db, token), id, value, rnd.IntN(2) == 0)
				})
				if rnd.IntN(4) == 0 {
					do(client, op{kind: "read"}, func() (value int64, err error) {
						err = db.QueryRowContext(ctx, "SELECT n FROM docs WHERE id = '"+id+"'").Scan(&value)
						return value, err
					})
				}
			}
		})
	}
	wg.Wait()
	return history
}

// writeRow writes a value by one of two statements.
func writeRow(ctx context.Context, docs rows[docsKey, docsRow, docsPatch], id string, value int64, upsert bool) error {
	if upsert {
		return docs.Upsert(ctx, docsRow{id, nil, value})
	}
	return docs.Update(ctx, docsKey{id}, docsPatch{N: fencedb.Set(value)})
}
