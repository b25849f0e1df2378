package etcdtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/etcdlease"
)

// get reads one key, which has to be there.
func get(t *testing.T, client *clientv3.Client, key string) (value string, create, mod, lease int64) {
	t.Helper()
	resp, err := client.Get(soon(t), key)
	if err != nil {
		t.Fatal(err)
	}
	if len(resp.Kvs) != 1 {
		t.Fatalf("key %s is not there", key)
	}
	kv := resp.Kvs[0]
	return string(kv.Value), kv.CreateRevision, kv.ModRevision, kv.Lease
}

func TestTokenIsTheRevisionOfTheGrant(t *testing.T) {
	client := on(t).client(t, nil)
	c, base := coordinator(t, client), "fence/"+t.Name()
	acquire(t, c, ask("other", "g0", time.Minute)) // makes the namespace
	g := acquire(t, c, ask("r", "g1", time.Minute))
	_, lease, _, _ := get(t, client, base+"/lease/r")
	_, last, _, _ := get(t, client, base+"/last/r")
	if g.Token.Counter() != lease || g.Token.Counter() != last || g.Token.Incarnation() != 0 {
		t.Errorf("token %s; the grant's transaction has made the keys at revisions %d and %d", g.Token, lease, last)
	}
	if want := fmt.Sprintf("revision %d", lease); g.Transaction != want {
		t.Errorf("the transaction is called %q, want %q", g.Transaction, want)
	}
	// It stays what it was when the record is written again.
	if _, err := c.Renew(soon(t), fencedb.RenewRequest{Token: g.Token, TTL: time.Minute}); err != nil {
		t.Fatal(err)
	}
	if o, err := c.Observe(soon(t), "r"); err != nil || o.Token != g.Token {
		t.Errorf("after a renewal: %v, %v, want %v", o.Token, err, g.Token)
	}
}

func TestGuardIsRaisedInTheGrant(t *testing.T) {
	client := on(t).client(t, nil)
	c := coordinator(t, client)
	guards := make([]*etcdlease.Guard, 4)
	for i, with := range []struct {
		client *clientv3.Client
		prefix string
	}{{client, "a"}, {client, "b"}, {client, "a"}, {on(t).client(t, nil), "c"}} {
		g, err := etcdlease.NewGuard(with.client, t.Name()+"/"+with.prefix)
		if err != nil {
			t.Fatal(err)
		}
		guards[i] = g
	}
	r := ask("r", "g1", time.Minute)
	for _, g := range guards {
		r.Guards = append(r.Guards, g)
	}
	g := acquire(t, c, r)
	if want := []bool{true, true, true, false}; !slices.Equal(g.Raised, want) {
		t.Errorf("Raised is %v, want %v: the last is on another client", g.Raised, want)
	}
	for _, prefix := range []string{"a", "b"} {
		if _, _, mod, _ := get(t, client, t.Name()+"/"+prefix+"/guard/r"); mod != g.Token.Counter() {
			t.Errorf("guard %s was written by revision %d and the grant is revision %d", prefix, mod, g.Token.Counter())
		}
	}
	// Not the grant's id alone: a number that the guard was not raised to is not its own.
	other, err := fencedb.NewToken("r", g.Token.Value()+5, "g1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := guards[0].Fenced(soon(t), other); !errors.Is(err, fencedb.ErrNotGranted) {
		t.Errorf("a write with %s under the guard of %s: %v, want ErrNotGranted", other, g.Token, err)
	}
	if _, err := guards[3].Fenced(soon(t), g.Token); !errors.Is(err, fencedb.ErrNotGranted) {
		t.Errorf("a write under the guard that was not raised: %v, want ErrNotGranted", err)
	}

	if err := c.Release(soon(t), g.Token); err != nil {
		t.Fatal(err)
	}
	r.GrantID = "g2"
	next := acquire(t, c, r)
	var stale *fencedb.StaleError
	if _, err := guards[0].Fenced(soon(t), g.Token); !errors.As(err, &stale) || stale.Current != next.Token.Value() {
		t.Errorf("a write of the former holder: %v, want a StaleError that knows %d", err, next.Token.Value())
	}
}

func TestFenced(t *testing.T) {
	client := on(t).client(t, nil)
	var told []fencedb.Decision
	guard, err := etcdlease.NewGuard(client, t.Name(), etcdlease.ObservedBy(&fencedb.Observer{Decision: func(_ context.Context, d fencedb.Decision) { told = append(told, d) }}))
	if err != nil {
		t.Fatal(err)
	}
	key := t.Name() + "/data"
	token := func(value int64, grant string) fencedb.Token {
		tok, err := fencedb.NewToken("a/b", value, grant)
		if err != nil {
			t.Fatal(err)
		}
		return tok
	}
	write := func(tok fencedb.Token) error {
		resp, err := guard.Fenced(soon(t), tok, clientv3.OpPut(key, tok.String(), clientv3.WithPrevKV()), clientv3.OpGet(key))
		if (resp == nil) == (err == nil) {
			t.Fatalf("Fenced returned %v and %v", resp, err)
		}
		if err == nil && string(resp.Responses[1].GetResponseRange().Kvs[0].Value) != tok.String() {
			t.Errorf("the response to the operations is %v", resp)
		}
		return err
	}
	for i, step := range []struct {
		raise bool
		tok   fencedb.Token
		want  fencedb.Result
		data  string
	}{
		{false, token(5, "five"), fencedb.NotGranted, ""},
		{true, token(5, "five"), fencedb.Accepted, ""},
		{false, token(5, "five"), fencedb.Accepted, "five"},
		{false, token(5, "other"), fencedb.Conflict, "five"},
		{false, token(6, "six"), fencedb.NotGranted, "five"},
		{true, token(6, "six"), fencedb.Accepted, "five"},
		{false, token(5, "five"), fencedb.Stale, "five"},
		{true, token(5, "five"), fencedb.Stale, "five"},
		{false, token(6, "six"), fencedb.Accepted, "six"},
	} {
		call := write
		if step.raise {
			call = func(tok fencedb.Token) error { return guard.Raise(soon(t), tok) }
		}
		told = nil
		err := call(step.tok)
		if got := fencedb.ResultOf(err); got != step.want {
			t.Errorf("step %d: %s (%v), want %s", i, got, err, step.want)
		}
		if len(told) != 1 || told[0].Result != step.want || told[0].Presented != step.tok.Value() || told[0].Table != t.Name()+"/guard" {
			t.Errorf("step %d: the observer was told %+v", i, told)
		}
		resp, err := client.Get(soon(t), key)
		if err != nil {
			t.Fatal(err)
		}
		data := ""
		if len(resp.Kvs) > 0 {
			data = string(resp.Kvs[0].Value)
		}
		if !strings.HasSuffix(data, step.data) {
			t.Errorf("step %d: the data is %q, want that of %q", i, data, step.data)
		}
	}
}

func TestRenewReplacesTheEtcdLease(t *testing.T) {
	client := on(t).client(t, nil)
	c, base := coordinator(t, client), "fence/"+t.Name()
	r := ask("r", "g", time.Minute)
	r.LockDelay = time.Minute
	g := acquire(t, c, r)
	seen := map[int64]bool{}
	for range 3 {
		for _, kind := range []string{"lease", "delay"} {
			_, _, _, id := get(t, client, base+"/"+kind+"/r")
			if id == 0 || seen[id] {
				t.Errorf("the %s key is on etcd lease %x, which was seen before or is none: %v", kind, id, seen)
			}
			seen[id] = true
		}
		if _, err := c.Renew(soon(t), fencedb.RenewRequest{Token: g.Token, TTL: time.Minute}); err != nil {
			t.Fatal(err)
		}
	}
	for id := range seen {
		if resp, err := client.TimeToLive(soon(t), clientv3.LeaseID(id)); err != nil || resp.TTL > 0 {
			t.Errorf("etcd lease %x was replaced and is still there: %+v, %v", id, resp, err)
		}
	}
}

// What no grant uses is revoked: also what contenders asked for who came second. Etcd may have
// made others of which nobody was told, since its client repeats such a request by itself; they
// are over after their time.
func TestNoEtcdLeaseIsLeftBehind(t *testing.T) {
	n := &network{}
	client := on(t).client(t, n.intercept)
	c := coordinator(t, client)
	for round := range 5 {
		var wg sync.WaitGroup
		var mu sync.Mutex
		var granted []fencedb.Token
		for i := range 8 {
			wg.Go(func() {
				r := ask("r", fmt.Sprintf("g%d-%d", round, i), time.Hour)
				r.LockDelay = time.Hour
				g, err := c.Acquire(soon(t), r)
				switch {
				case err == nil:
					mu.Lock()
					granted = append(granted, g.Token)
					mu.Unlock()
				case !errors.Is(err, fencedb.ErrHeld):
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if len(granted) != 1 {
			t.Fatalf("round %d: %d of 8 contenders were granted one resource: %v", round, len(granted), granted)
		}
		if _, err := c.Renew(soon(t), fencedb.RenewRequest{Token: granted[0], TTL: time.Hour}); err != nil {
			t.Error(err)
		}
		if err := c.Release(soon(t), granted[0]); err != nil {
			t.Error(err)
		}
	}
	if len(n.leases) < 20 { // five grants and five renewals, of two each
		t.Errorf("%d etcd leases were granted", len(n.leases))
	}
	for _, id := range n.leases {
		if resp, err := client.TimeToLive(soon(t), id); err != nil || resp.TTL > 0 {
			t.Errorf("etcd lease %x is left for %d s (%v); %d requests for one failed", id, resp.TTL, err, n.failed)
		}
	}
}

func TestBreak(t *testing.T) {
	client := on(t).client(t, nil)
	c := coordinator(t, client)
	brk := func(resource string, noDelay bool) (int64, error) {
		return c.Break(soon(t), etcdlease.BreakRequest{Resource: resource, Reason: "it hangs", Actor: "ops", NoDelay: noDelay})
	}
	if _, err := brk("never", false); !errors.Is(err, fencedb.ErrReleased) {
		t.Errorf("breaking what was never granted: %v, want ErrReleased", err)
	}
	if _, err := c.Break(soon(t), etcdlease.BreakRequest{Resource: "r"}); !errors.Is(err, fencedb.ErrRefused) {
		t.Errorf("breaking without a reason: %v, want ErrRefused", err)
	}

	r := ask("r", "g1", time.Minute)
	r.LockDelay = time.Minute
	g := acquire(t, c, r)
	value, err := brk("r", false)
	if err != nil || value <= g.Token.Value() {
		t.Fatalf("breaking %s: %d, %v; want a larger value", g.Token, value, err)
	}
	if again, err := brk("r", false); err != nil || again != value {
		t.Errorf("breaking again: %d, %v, want %d", again, err, value)
	}
	if _, err := c.Renew(soon(t), fencedb.RenewRequest{Token: g.Token, TTL: time.Minute}); !errors.Is(err, fencedb.ErrReleased) {
		t.Errorf("renewing what was broken: %v, want ErrReleased", err)
	}
	var held *fencedb.HeldError
	if _, err := c.Acquire(soon(t), ask("r", "g2", time.Minute)); !errors.As(err, &held) || held.End != "broken" || held.Value != value || held.FreeIn < 90*time.Second {
		t.Errorf("asking for what was broken: %v (%+v), want to wait for the TTL and the lock-delay", err, held)
	}
	now, err := brk("r", true)
	if err != nil || now <= value {
		t.Errorf("breaking without delay: %d, %v", now, err)
	}
	next := acquire(t, c, ask("r", "g2", time.Minute))
	if next.Token.Value() <= now || next.Predecessor.End != "broken" || next.Predecessor.Value != now {
		t.Errorf("after the break: %+v", next)
	}

	text, _, _, _ := get(t, client, fmt.Sprintf("fence/%s/audit/r,%d", t.Name(), g.Token.Value()))
	var audit map[string]any
	if err := json.Unmarshal([]byte(text), &audit); err != nil || audit["actor"] != "ops" || audit["reason"] != "it hangs" || audit["grant"] != "g1" {
		t.Errorf("the audit key says %s (%v)", text, err)
	}
}

func TestOddNames(t *testing.T) {
	client := on(t).client(t, nil)
	resources := []string{"a", "a/b", "a%2Fb", "a/b/last", "/", "//a", "a,1", ",", "%", "..", "a b", "Ä", "日本/語", "meta", "state", strings.Repeat("x/", 127)}
	type place struct{ prefix, namespace string }
	places := []place{{"odd", "n"}, {"odd/n", "last"}, {"odd/n", "lease"}, {"odd", "n/last"}, {"odd", "n%2Flast"}, {"odd", "guard"}}
	held := map[string]bool{}
	for _, p := range places {
		c, err := etcdlease.New(client, etcdlease.InPrefix(p.prefix), etcdlease.Namespace(p.namespace))
		if err != nil {
			t.Fatal(err)
		}
		guard, err := etcdlease.NewGuard(client, p.prefix+"/"+p.namespace)
		if err != nil {
			t.Fatal(err)
		}
		for _, resource := range resources {
			r := ask(resource, "g", time.Minute)
			r.Guards = []fencedb.Guard{guard}
			g := acquire(t, c, r) // nobody else's key is in the way
			if text := g.Token.String(); held[text] || g.Repeated {
				t.Errorf("%v: %s was granted before", p, text)
			} else {
				held[text] = true
			}
		}
		all, err := c.List(soon(t))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, o := range all {
			names = append(names, o.Resource)
			if !o.Held || o.Owner != "owner of g" || o.Token.Resource() != o.Resource {
				t.Errorf("%v: %+v", p, o)
			}
		}
		want := slices.Clone(resources)
		slices.Sort(want)
		if !slices.Equal(names, want) {
			t.Errorf("%v lists %q, want %q", p, names, want)
		}
	}
	for _, bad := range []etcdlease.Option{etcdlease.Namespace(""), etcdlease.Namespace("a\n"), etcdlease.InPrefix(""), etcdlease.InPrefix("a/")} {
		if _, err := etcdlease.New(client, bad); !errors.Is(err, fencedb.ErrRefused) {
			t.Errorf("a bad name: %v, want ErrRefused", err)
		}
	}
	if _, err := etcdlease.New(nil); !errors.Is(err, fencedb.ErrRefused) {
		t.Errorf("no client: %v, want ErrRefused", err)
	}
}

func TestHold(t *testing.T) {
	client := on(t).client(t, nil)
	c := coordinator(t, client)
	guard, err := etcdlease.NewGuard(client, t.Name())
	if err != nil {
		t.Fatal(err)
	}
	key := t.Name() + "/data"
	var former fencedb.Token
	for range 3 {
		err := fencedb.Hold(t.Context(), c, "r", func(ctx context.Context, lease *fencedb.Lease) error {
			if !former.IsZero() {
				if _, err := guard.Fenced(ctx, former, clientv3.OpPut(key, "former")); !errors.Is(err, fencedb.ErrStale) {
					return fmt.Errorf("a write of the former holder: %w, want ErrStale", err)
				}
			}
			former = lease.Token()
			time.Sleep(1200 * time.Millisecond) // longer than a third of the TTL: it is renewed
			_, err := guard.Fenced(ctx, lease.Token(), clientv3.OpPut(key, lease.Token().String()))
			return err
		}, fencedb.TTL(3*time.Second), fencedb.Guards(guard))
		if err != nil {
			t.Fatal(err)
		}
	}
	if o, err := c.Observe(soon(t), "r"); err != nil || o.Held || o.End != "released" || o.Renewals == 0 || o.Token != former {
		t.Errorf("in the end: %+v, %v", o, err)
	}
}
