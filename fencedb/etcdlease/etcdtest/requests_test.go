package etcdtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/etcdlease"
)

// A network stands between a client and its cluster. Do, if it is there, makes a request.
type network struct {
	mu     sync.Mutex
	leases []clientv3.LeaseID // that etcd has answered to have granted
	failed int                // requests for leases that were not answered so
	do     func(ctx context.Context, req any, send func(context.Context) error) error
}

func (n *network) set(do func(ctx context.Context, req any, send func(context.Context) error) error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.do = do
}

func (n *network) intercept(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	n.mu.Lock()
	do := n.do
	n.mu.Unlock()
	send := func(ctx context.Context) error {
		err := invoke(ctx, method, req, reply, cc, opts...)
		if granted, ok := reply.(*pb.LeaseGrantResponse); ok {
			n.mu.Lock()
			defer n.mu.Unlock()
			if err != nil {
				n.failed++
			} else {
				n.leases = append(n.leases, clientv3.LeaseID(granted.ID))
			}
		}
		return err
	}
	if do == nil {
		return send(ctx)
	}
	return do(ctx, req, send)
}

// changes tells whether a request is a transaction that changes something.
func changes(req any) bool {
	txn, ok := req.(*pb.TxnRequest)
	if !ok {
		return false
	}
	for _, op := range txn.Success {
		if op.GetRequestPut() != nil || op.GetRequestDeleteRange() != nil {
			return true
		}
	}
	return false
}

var errCut = status.Error(codes.Unavailable, "the connection was cut")

// losesAnswers has transactions that change something carried out and their answers lost.
func losesAnswers(ctx context.Context, req any, send func(context.Context) error) error {
	if err := send(ctx); err != nil {
		return err
	}
	if changes(req) {
		return errCut
	}
	return nil
}

// unknown fails unless err says that the outcome is not known.
func unknown(t *testing.T, what string, err error) {
	t.Helper()
	if err == nil {
		t.Fatalf("%s, whose answer was lost: no error", what)
	}
	for _, certain := range []error{fencedb.ErrNotSent, fencedb.ErrHeld, fencedb.ErrRefused, fencedb.ErrLeaseExpired, fencedb.ErrReleased, fencedb.ErrSuperseded} {
		if errors.Is(err, certain) {
			t.Errorf("%s, whose answer was lost: %v, which says that something is certain", what, err)
		}
	}
}

func TestLostAnswers(t *testing.T) {
	n := &network{}
	client := on(t).client(t, n.intercept)
	c := coordinator(t, client)
	guard, err := etcdlease.NewGuard(client, t.Name())
	if err != nil {
		t.Fatal(err)
	}
	// The namespace is made by a transaction of its own, whose answer may be lost, too.
	n.set(losesAnswers)
	if _, err := c.Acquire(soon(t), ask("first", "g", time.Minute)); !errors.Is(err, fencedb.ErrNotSent) {
		t.Errorf("the answer to making the namespace was lost: %v, want ErrNotSent: no grant was asked for", err)
	}
	r := ask("r", "g1", time.Minute)
	r.Guards = []fencedb.Guard{guard}
	_, err = c.Acquire(soon(t), r)
	unknown(t, "a grant", err)
	n.set(nil)
	g := acquire(t, c, r)
	if !g.Repeated || g.TTL != time.Minute || len(g.Raised) != 1 || !g.Raised[0] {
		t.Errorf("asked again: %+v, want a repeated grant of a minute whose guard is raised", g)
	}
	if again := acquire(t, c, r); again.Token != g.Token {
		t.Errorf("asked once more: %s, want %s", again.Token, g.Token)
	}

	n.set(losesAnswers)
	_, err = c.Renew(soon(t), fencedb.RenewRequest{Token: g.Token, TTL: time.Minute})
	unknown(t, "a renewal", err)
	n.set(nil)
	renewal, err := c.Renew(soon(t), fencedb.RenewRequest{Token: g.Token, TTL: time.Minute})
	if err != nil || renewal.Count != 2 {
		t.Errorf("renewed again: %+v, %v, want the second", renewal, err)
	}

	n.set(losesAnswers)
	unknown(t, "a release", c.Release(soon(t), g.Token))
	n.set(nil)
	if err := c.Release(soon(t), g.Token); err != nil {
		t.Errorf("released again: %v", err)
	}
	if _, err := c.Acquire(soon(t), r); !errors.Is(err, fencedb.ErrReleased) {
		t.Errorf("asked again after the release: %v, want ErrReleased", err)
	}
}

func TestStepsBeforeTheTransactionAreNotTheRequest(t *testing.T) {
	n := &network{}
	c := coordinator(t, on(t).client(t, n.intercept))
	g := acquire(t, c, ask("held", "g", time.Minute))
	for name, fails := range map[string]func(req any) bool{
		"the read":       func(req any) bool { _, ok := req.(*pb.TxnRequest); return ok && !changes(req) },
		"the etcd lease": func(req any) bool { _, ok := req.(*pb.LeaseGrantRequest); return ok },
	} {
		sent := 0
		n.set(func(ctx context.Context, req any, send func(context.Context) error) error {
			if fails(req) {
				return status.Error(codes.Internal, "a fault of the test")
			}
			if changes(req) {
				sent++
			}
			return send(ctx)
		})
		if _, err := c.Acquire(soon(t), ask("free", "g2", time.Minute)); !errors.Is(err, fencedb.ErrNotSent) {
			t.Errorf("%s failed: Acquire says %v, want ErrNotSent", name, err)
		}
		if _, err := c.Renew(soon(t), fencedb.RenewRequest{Token: g.Token, TTL: time.Minute}); !errors.Is(err, fencedb.ErrNotSent) {
			t.Errorf("%s failed: Renew says %v, want ErrNotSent", name, err)
		}
		if sent != 0 {
			t.Errorf("%s failed and %d transactions were sent", name, sent)
		}
	}
	n.set(nil)
	if o, err := c.Observe(soon(t), "free"); err != nil || o.Held || o.Renewals != 0 {
		t.Errorf("nothing was granted: %+v, %v", o, err)
	}
}

// A renewal that arrives late finds another state than the one it was decided on.
func TestDelayedRenewalChangesNothing(t *testing.T) {
	n := &network{}
	late, c := coordinator(t, on(t).client(t, n.intercept)), coordinator(t, on(t).client(t, nil))
	g := acquire(t, c, ask("r", "former", time.Minute))
	deliver, delivered := make(chan struct{}), make(chan error, 1)
	n.set(func(ctx context.Context, req any, send func(context.Context) error) error {
		if !changes(req) {
			return send(ctx)
		}
		go func() {
			<-deliver
			delivered <- send(context.WithoutCancel(ctx))
		}()
		<-ctx.Done()
		return ctx.Err()
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := late.Renew(ctx, fencedb.RenewRequest{Token: g.Token, TTL: time.Hour})
	unknown(t, "a renewal", err)
	if err := c.Release(soon(t), g.Token); err != nil {
		t.Fatal(err)
	}
	next := acquire(t, c, ask("r", "successor", time.Minute))
	before, err := c.Observe(soon(t), "r")
	if err != nil {
		t.Fatal(err)
	}
	close(deliver)
	if err := <-delivered; err != nil {
		t.Fatalf("the renewal did not arrive: %v", err)
	}
	after, err := c.Observe(soon(t), "r")
	if err != nil || after.Token != next.Token || !after.Held || after.Renewals != 0 || !after.Expires.Equal(before.Expires) {
		t.Errorf("a late renewal of a former holder: %+v, %v; want %+v", after, err, before)
	}
}

func TestNoEndpoint(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil { // nobody listens there now
		t.Fatal(err)
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{l.Addr().String()}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	c := coordinator(t, client)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := c.Acquire(ctx, ask("r", "g", time.Minute)); !errors.Is(err, fencedb.ErrNotSent) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Acquire without a cluster: %v, want ErrNotSent and the context's error", err)
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("Acquire took %v after its context had ended", took)
	}
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	cluster := own(t)
	root := cluster.client(t, nil)
	ctx := soon(t)
	steps := []func() error{
		func() error { _, err := root.RoleAdd(ctx, "root"); return err },
		func() error { _, err := root.UserAdd(ctx, "root", "pw"); return err },
		func() error { _, err := root.UserGrantRole(ctx, "root", "root"); return err },
		func() error { _, err := root.RoleAdd(ctx, "holder"); return err },
		func() error {
			_, err := root.RoleGrantPermission(ctx, "holder", "fence/default/", clientv3.GetPrefixRangeEnd("fence/default/"), clientv3.PermissionType(clientv3.PermReadWrite))
			return err
		},
		func() error {
			_, err := root.RoleGrantPermission(ctx, "holder", "fence/guard/", clientv3.GetPrefixRangeEnd("fence/guard/"), clientv3.PermissionType(clientv3.PermReadWrite))
			return err
		},
		func() error { _, err := root.UserAdd(ctx, "holder", "pw"); return err },
		func() error { _, err := root.UserGrantRole(ctx, "holder", "holder"); return err },
		func() error { _, err := root.AuthEnable(ctx); return err },
	}
	for i, step := range steps {
		if err := step(); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}
	holder, err := clientv3.New(clientv3.Config{Endpoints: []string{cluster.clients[0].String()}, Username: "holder", Password: "pw", Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = holder.Close() }()
	allowed, err := etcdlease.New(holder)
	if err != nil {
		t.Fatal(err)
	}
	guard, err := etcdlease.NewGuard(holder, etcdlease.DefaultPrefix)
	if err != nil {
		t.Fatal(err)
	}
	r := ask("r", "g", time.Minute)
	r.Guards = []fencedb.Guard{guard}
	g := acquire(t, allowed, r)
	if err := guard.Raise(soon(t), g.Token); err != nil {
		t.Errorf("raising: %v", err)
	}
	if _, err := allowed.Renew(soon(t), fencedb.RenewRequest{Token: g.Token, TTL: time.Minute}); err != nil {
		t.Errorf("renewing with all that docs/etcd.md asks for: %v", err)
	}
	if err := allowed.Release(soon(t), g.Token); err != nil {
		t.Errorf("releasing: %v", err)
	}
	if _, err := allowed.List(soon(t)); err != nil {
		t.Errorf("listing: %v", err)
	}
	forbidden, err := etcdlease.New(holder, etcdlease.Namespace("another"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := forbidden.Acquire(soon(t), ask("r", "g", time.Minute)); !errors.Is(err, fencedb.ErrRefused) {
		t.Errorf("Acquire in a namespace that the user may not read: %v, want ErrRefused", err)
	}
}

func TestBadKeys(t *testing.T) {
	client := on(t).client(t, nil)
	for i, bad := range []struct{ key, value string }{
		{"meta/state", "{"},
		{"meta/state", `{"format":2,"cluster":"1","incarnation":0}`},
		{"meta/state", `{"format":1,"cluster":"1","incarnation":40000}`},
		{"last/r", "nothing"},
		{"last/r", `{"grant":"","incarnation":0}`},
		{"last/r", `{"grant":"g","incarnation":-1}`},
	} {
		namespace := fmt.Sprintf("%s-%d", t.Name(), i)
		c, err := etcdlease.New(client, etcdlease.Namespace(namespace))
		if err != nil {
			t.Fatal(err)
		}
		acquire(t, c, ask("other", "g", time.Minute))
		if _, err := client.Put(soon(t), "fence/"+namespace+"/"+bad.key, bad.value); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Acquire(soon(t), ask("r", "g", time.Minute)); !errors.Is(err, fencedb.ErrRefused) || errors.Is(err, fencedb.ErrNotSent) {
			t.Errorf("%s is %s: %v, want ErrRefused", bad.key, bad.value, err)
		}
	}
	guard, err := etcdlease.NewGuard(client, t.Name())
	if err != nil {
		t.Fatal(err)
	}
	token, err := fencedb.NewToken("r", 1, "g")
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"", "5", "0/g", "x/g", "@x/g", "@99999/g"} {
		if _, err := client.Put(soon(t), t.Name()+"/guard/r", value); err != nil {
			t.Fatal(err)
		}
		if err := guard.Raise(soon(t), token); !errors.Is(err, fencedb.ErrRefused) {
			t.Errorf("the guard's value is %q: %v, want ErrRefused", value, err)
		}
		if _, err := guard.Fenced(soon(t), token, clientv3.OpPut("written", "x")); !errors.Is(err, fencedb.ErrRefused) {
			t.Errorf("the guard's value is %q: a write says %v, want ErrRefused", value, err)
		}
	}
}
