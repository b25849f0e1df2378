package etcdtest

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/etcdlease"
)

// A follower, and then the leader, stop while a holder renews and others ask for the
// resource. The holder keeps it as long as it renews; then it is taken over.
func TestMembersStop(t *testing.T) {
	t.Parallel()
	const ttl, attempt = 4 * time.Second, time.Second
	cluster := own(t)
	client := cluster.client(t, nil)
	holder, contender := coordinator(t, client), coordinator(t, cluster.client(t, nil))
	sent := time.Now()
	g := acquire(t, holder, ask("r", "holder", ttl))

	// until is before when, at the latest, the holder's grant is over by what it was told.
	var mu sync.Mutex
	until := sent.Add(ttl)
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	var renewed, unknown int
	wg.Go(func() {
		for ctx.Err() == nil {
			sent := time.Now()
			try, cancel := context.WithTimeout(ctx, attempt)
			r, err := holder.Renew(try, fencedb.RenewRequest{Token: g.Token, TTL: ttl})
			cancel()
			mu.Lock()
			switch {
			case err == nil:
				renewed++
				until = sent.Add(r.TTL)
			case errors.Is(err, fencedb.ErrLeaseExpired), errors.Is(err, fencedb.ErrSuperseded), errors.Is(err, fencedb.ErrReleased), errors.Is(err, fencedb.ErrRefused):
				t.Errorf("a renewal while members stop: %v", err)
			case ctx.Err() == nil:
				unknown++
			}
			mu.Unlock()
			time.Sleep(100 * time.Millisecond)
		}
	})
	var next fencedb.Grant
	var answered time.Time
	taken := make(chan struct{})
	wg.Go(func() {
		defer close(taken)
		for n := 0; ; n++ {
			try, cancel := context.WithTimeout(t.Context(), 3*attempt)
			g, err := contender.Acquire(try, ask("r", "contender", time.Minute))
			cancel()
			if err == nil {
				next, answered = g, time.Now()
				return
			}
			if n > 600 {
				t.Errorf("the resource is not taken over: %v", err)
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
	})
	progress := func(what string) {
		mu.Lock()
		before := renewed
		mu.Unlock()
		for range 200 {
			time.Sleep(50 * time.Millisecond)
			mu.Lock()
			now := renewed
			mu.Unlock()
			if now >= before+5 {
				return
			}
		}
		t.Errorf("%s: fewer than five renewals in 10 s", what)
	}

	progress("all members run")
	follower := (cluster.leader(t) + 1) % members
	cluster.stop(follower)
	progress("a follower has stopped")
	if err := cluster.start(follower); err != nil {
		t.Fatal(err)
	}
	progress("the follower is back")
	leader := cluster.leader(t)
	cluster.stop(leader)
	progress("the leader has stopped")
	if now := cluster.leader(t); now == leader {
		t.Errorf("member %d has stopped and leads", now)
	}

	stop()
	mu.Lock()
	over := until
	mu.Unlock()
	<-taken
	if answered.Before(over) {
		t.Errorf("%s was granted %v before the time of %s was over", next.Token, over.Sub(answered), g.Token)
	}
	if next.Token.Value() <= g.Token.Value() || next.Predecessor.End != "expired" || next.Predecessor.GrantID != "holder" {
		t.Errorf("%s was taken over by %+v", g.Token, next)
	}
	t.Logf("%d renewals, %d without an answer; takeover %v after the holder's time", renewed, unknown, answered.Sub(over).Round(time.Millisecond))
}

func TestNoMajority(t *testing.T) {
	t.Parallel()
	cluster := own(t)
	c := coordinator(t, cluster.client(t, nil))
	g := acquire(t, c, ask("r", "g", time.Minute))
	cluster.stop(0)
	cluster.stop(1)
	for name, call := range map[string]func(context.Context) error{
		"Acquire": func(ctx context.Context) error { _, err := c.Acquire(ctx, ask("free", "g", time.Minute)); return err },
		"Renew": func(ctx context.Context) error {
			_, err := c.Renew(ctx, fencedb.RenewRequest{Token: g.Token, TTL: time.Minute})
			return err
		},
		"Release": func(ctx context.Context) error { return c.Release(ctx, g.Token) },
		"Observe": func(ctx context.Context) error { _, err := c.Observe(ctx, "r"); return err },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
		began := time.Now()
		// Not even the read is answered, which would otherwise be of an old state.
		if err := call(ctx); !errors.Is(err, fencedb.ErrNotSent) {
			t.Errorf("%s without a majority: %v, want ErrNotSent", name, err)
		}
		cancel()
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("%s took %v, its context ended after 0.7 s", name, took)
		}
	}
}

// The namespace is made to believe that it was in another cluster, as it does after a restore.
func TestAnotherCluster(t *testing.T) {
	client := on(t).client(t, nil)
	c, key := coordinator(t, client), "fence/"+t.Name()+"/meta/state"
	r := ask("r", "g1", 2*time.Second)
	r.LockDelay = time.Second
	before := acquire(t, c, r)
	if err := c.Release(soon(t), before.Token); err != nil {
		t.Fatal(err)
	}
	running := acquire(t, c, ask("running", "g2", 2*time.Second))
	text, _, _, _ := get(t, client, key)
	edited := regexp.MustCompile(`"cluster":"[0-9a-f]+"`).ReplaceAllString(text, `"cluster":"cafe"`)
	if _, err := client.Put(soon(t), key, edited); err != nil || edited == text {
		t.Fatalf("editing %s: %v", text, err)
	}

	var held *fencedb.HeldError
	if _, err := c.Acquire(soon(t), ask("r", "g3", time.Minute)); !errors.As(err, &held) || held.End != fencedb.Quarantined || held.FreeIn > 4*time.Second {
		t.Fatalf("at first in another cluster: %v (%+v), want a quarantine of the longest time that a lost grant may last", err, held)
	}
	quarantined := time.Now()
	if _, err := c.Renew(soon(t), fencedb.RenewRequest{Token: running.Token, TTL: 2 * time.Second}); err != nil {
		t.Errorf("a holder that the snapshot knows renews: %v", err)
	}
	var after fencedb.Grant
	for {
		var err error
		if after, err = c.Acquire(soon(t), ask("r", "g3", time.Minute)); err == nil {
			break
		}
		if !errors.Is(err, fencedb.ErrHeld) || time.Since(quarantined) > 8*time.Second {
			t.Fatalf("after %v: %v", time.Since(quarantined), err)
		}
		time.Sleep(100 * time.Millisecond)
	}
	if took := time.Since(quarantined); took < 2500*time.Millisecond {
		t.Errorf("granted after %v, want the 3 s that the longest grant lasted", took)
	}
	if after.Token.Incarnation() != 1 || after.Token.Value() <= running.Token.Value() {
		t.Errorf("the first token in another cluster is %s, want incarnation 1", after.Token)
	}
}

// Whoever deletes the namespace's key must not set its tokens back.
func TestNamespaceKeyDeleted(t *testing.T) {
	client := on(t).client(t, nil)
	c, key := coordinator(t, client), "fence/"+t.Name()+"/meta/state"
	if _, err := c.Advance(soon(t), 7<<48|5, 0); err != nil {
		t.Fatal(err)
	}
	g := acquire(t, c, ask("r", "g", time.Second))
	if g.Token.Incarnation() != 8 {
		t.Errorf("after an advance above incarnation 7: %s", g.Token)
	}
	if _, err := client.Delete(soon(t), key); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Renew(soon(t), fencedb.RenewRequest{Token: g.Token, TTL: time.Second}); err != nil {
		t.Errorf("renewing: %v", err)
	}
	var next fencedb.Grant
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		var err error
		if next, err = c.Acquire(soon(t), ask("other", "g", time.Minute)); err == nil {
			break
		}
		if time.Since(began) > 5*time.Second {
			t.Fatal(err)
		}
	}
	if next.Token.Incarnation() != 9 {
		t.Errorf("after the namespace's key was deleted: %s, want incarnation 9", next.Token)
	}
}

func TestAdvance(t *testing.T) {
	client := on(t).client(t, nil)
	c := coordinator(t, client)
	for i, step := range []struct {
		above int64
		want  int
	}{{0, 0}, {0, 1}, {1<<48 | 9, 2}, {9<<48 | 1, 10}, {3 << 48, 11}} {
		if got, err := c.Advance(soon(t), step.above, 0); err != nil || got != step.want {
			t.Errorf("step %d, above %d: incarnation %d, %v; want %d", i, step.above, got, err, step.want)
		}
	}
	for _, bad := range []struct {
		above      int64
		quarantine time.Duration
	}{{-1, 0}, {0, -1}, {0, 1000 * time.Hour}, {32767 << 48, 0}} {
		if _, err := c.Advance(soon(t), bad.above, bad.quarantine); !errors.Is(err, fencedb.ErrRefused) {
			t.Errorf("above %d, quarantine %v: %v, want ErrRefused", bad.above, bad.quarantine, err)
		}
	}
	if _, err := c.Advance(soon(t), 0, time.Minute); err != nil {
		t.Fatal(err)
	}
	var held *fencedb.HeldError
	if _, err := c.Acquire(soon(t), ask("r", "g", time.Minute)); !errors.As(err, &held) || held.End != fencedb.Quarantined || held.FreeIn < 50*time.Second {
		t.Errorf("in a quarantine of a minute: %v (%+v)", err, held)
	}
}

// Restores are done as docs/etcd.md says, by etcdutl's own code.
func TestRestore(t *testing.T) {
	t.Parallel()
	cluster := own(t)
	client := cluster.client(t, nil)
	c := coordinator(t, client)
	grant := func(c *etcdlease.Coordinator, resource string) (fencedb.Grant, error) {
		for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
			g, err := c.Acquire(soon(t), ask(resource, fmt.Sprintf("g-%d", time.Now().UnixNano()), time.Second))
			again := errors.Is(err, fencedb.ErrHeld) || errors.Is(err, fencedb.ErrNotSent) // a quarantine, a new connection
			if !again || time.Since(began) > 15*time.Second {
				return g, err
			}
		}
	}
	must := func(resource string) fencedb.Grant {
		t.Helper()
		g, err := grant(c, resource)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	lose := func(token string, bump uint64) (last fencedb.Token) {
		t.Helper()
		file := snapshotOf(t, client)
		for i := range 20 {
			last = must(fmt.Sprintf("lost-%d-%s", i, token)).Token
		}
		if err := cluster.restore(file, token, bump); err != nil {
			t.Fatal(err)
		}
		return last
	}

	must("before")
	last := lose("second", 0)
	if g := must("r"); g.Token.Counter() >= last.Counter() || g.Token.Incarnation() != 1 || g.Token.Value() <= last.Value() {
		t.Errorf("restored with a new cluster token: %s after %s; want a smaller revision, and incarnation 1", g.Token, last)
	}

	// The same cluster token, the same members: the cluster's id is the same.
	last = lose("second", 0)
	fresh := coordinator(t, client)
	var regression *fencedb.RegressionError
	if g, err := grant(c, "r2"); !errors.As(err, &regression) || regression.Source != "client" || regression.Known != last.Value() {
		t.Errorf("restored under the old cluster token: %v, %v; want a RegressionError that knows %d", g.Token, err, last.Value())
	}
	if o, err := fresh.Observe(soon(t), "r2"); err != nil || !o.Token.IsZero() {
		t.Errorf("a grant that would go back was made all the same: %+v, %v", o, err)
	}
	if g, err := grant(fresh, "r3"); err != nil || g.Token.Value() > last.Value() {
		t.Errorf("a process that has seen nothing: %v, %v; it cannot know, as docs/etcd.md says", g.Token, err)
	}
	if _, err := c.Advance(soon(t), last.Value(), 0); err != nil {
		t.Fatal(err)
	}
	if g := must("r2"); g.Token.Value() <= last.Value() {
		t.Errorf("after an advance above %d: %s", last.Value(), g.Token)
	}

	last = lose("second", 1_000_000)
	if g := must("r4"); g.Token.Counter() <= last.Counter() || g.Token.Incarnation() != last.Incarnation() {
		t.Errorf("restored with --bump-revision: %s after %s; want a larger revision of the same incarnation", g.Token, last)
	}
}
