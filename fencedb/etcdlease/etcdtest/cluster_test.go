package etcdtest

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/etcdutl/v3/snapshot"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/etcdlease"
)

const members = 3

// A cluster is three members of etcd in this process, with their data in a directory.
type cluster struct {
	dir     string
	token   string
	peers   [members]url.URL
	clients [members]url.URL
	running [members]*embed.Etcd // nil: stopped
}

// newCluster starts a cluster on free ports, which has no data. Its elections are fast enough
// for etcd leases of one second.
func newCluster(dir string) (*cluster, error) {
	c := &cluster{dir: dir, token: "first"}
	for i := range members {
		for _, u := range []*url.URL{&c.peers[i], &c.clients[i]} {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return nil, err
			}
			*u = url.URL{Scheme: "http", Host: l.Addr().String()}
			if err := l.Close(); err != nil {
				return nil, err
			}
		}
	}
	return c, c.startAll()
}

func member(i int) string { return fmt.Sprintf("m%d", i) }

func (c *cluster) initial() string {
	var all []string
	for i := range members {
		all = append(all, member(i)+"="+c.peers[i].String())
	}
	return strings.Join(all, ",")
}

func (c *cluster) data(i int) string { return filepath.Join(c.dir, member(i)) }

// start starts a member. It does not wait until the member is ready.
func (c *cluster) start(i int) error {
	cfg := embed.NewConfig()
	cfg.Name, cfg.Dir = member(i), c.data(i)
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = []url.URL{c.peers[i]}, []url.URL{c.peers[i]}
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{c.clients[i]}, []url.URL{c.clients[i]}
	cfg.InitialCluster, cfg.InitialClusterToken = c.initial(), c.token
	cfg.TickMs, cfg.ElectionMs = 60, 600        // 1.5 elections are below a second
	cfg.UnsafeNoFsync, cfg.BcryptCost = true, 4 // nothing here has to survive, or to be kept secret
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	e, err := embed.StartEtcd(cfg)
	if err != nil {
		return fmt.Errorf("starting %s: %w", member(i), err)
	}
	c.running[i] = e
	return nil
}

func (c *cluster) startAll() error {
	for i := range members {
		if err := c.start(i); err != nil {
			return err
		}
	}
	for i := range members {
		select {
		case <-c.running[i].Server.ReadyNotify():
		case <-time.After(30 * time.Second):
			return fmt.Errorf("%s is not ready after 30 s", member(i))
		}
	}
	return nil
}

func (c *cluster) stop(i int) {
	if c.running[i] != nil {
		c.running[i].Close()
		c.running[i] = nil
	}
}

func (c *cluster) stopAll() {
	for i := range members {
		c.stop(i)
	}
}

// leader returns the member that leads, as the running ones have it.
func (c *cluster) leader(t *testing.T) int {
	t.Helper()
	for range 200 {
		for i, e := range c.running {
			if e != nil && e.Server.Leader() == e.Server.MemberID() {
				return i
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("no member leads after 10 s")
	return 0
}

// restore replaces every member's data by a snapshot's, as etcdutl does, and starts them.
func (c *cluster) restore(file, token string, bump uint64) error {
	c.stopAll()
	c.token = token
	for i := range members {
		if err := os.RemoveAll(c.data(i)); err != nil {
			return err
		}
		err := snapshot.NewV3(zap.NewNop()).Restore(snapshot.RestoreConfig{SnapshotPath: file, Name: member(i), OutputDataDir: c.data(i),
			PeerURLs: []string{c.peers[i].String()}, InitialCluster: c.initial(), InitialClusterToken: token, RevisionBump: bump, MarkCompacted: bump > 0})
		if err != nil {
			return fmt.Errorf("restoring %s: %w", member(i), err)
		}
	}
	return c.startAll()
}

// snapshotOf saves a snapshot of the cluster, as etcdctl snapshot save does.
func snapshotOf(t *testing.T, client *clientv3.Client) string {
	t.Helper()
	resp, err := client.SnapshotWithVersion(soon(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Snapshot.Close() }()
	name := filepath.Join(t.TempDir(), "snapshot")
	to, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(to, resp.Snapshot); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

// client connects to the members, through network if it is not nil.
func (c *cluster) client(t testing.TB, network grpc.UnaryClientInterceptor) *clientv3.Client {
	t.Helper()
	var endpoints []string
	for _, u := range c.clients {
		endpoints = append(endpoints, u.String())
	}
	cfg := clientv3.Config{Endpoints: endpoints, DialTimeout: 5 * time.Second, Logger: zap.NewNop()}
	if network != nil {
		cfg.DialOptions = []grpc.DialOption{grpc.WithChainUnaryInterceptor(network)}
	}
	client, err := clientv3.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	return client
}

// shared is the cluster of all tests that stop no member.
var shared = sync.OnceValues(func() (*cluster, error) {
	dir, err := os.MkdirTemp("", "etcdtest")
	if err != nil {
		return nil, err
	}
	return newCluster(dir)
})

func TestMain(m *testing.M) {
	code := 1
	c, err := shared()
	if err == nil {
		code = m.Run()
		c.stopAll()
		err = os.RemoveAll(c.dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// on returns the shared cluster.
func on(t testing.TB) *cluster {
	t.Helper()
	c, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// own returns a cluster of the test's own.
func own(t *testing.T) *cluster {
	t.Helper()
	c, err := newCluster(t.TempDir())
	if c != nil {
		t.Cleanup(c.stopAll)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// coordinator returns a handle of the namespace that is named like the test.
func coordinator(t testing.TB, client *clientv3.Client) *etcdlease.Coordinator {
	t.Helper()
	c, err := etcdlease.New(client, etcdlease.Namespace(t.Name()))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// soon is a context for what has to be over soon.
func soon(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func ask(resource, grant string, ttl time.Duration) fencedb.AcquireRequest {
	return fencedb.AcquireRequest{Resource: resource, GrantID: grant, Owner: "owner of " + grant, TTL: ttl, Usable: ttl * 9 / 10}
}

func acquire(t testing.TB, c *etcdlease.Coordinator, r fencedb.AcquireRequest) fencedb.Grant {
	t.Helper()
	g, err := c.Acquire(soon(t), r)
	if err != nil {
		t.Fatalf("Acquire(%s, %s): %v", r.Resource, r.GrantID, err)
	}
	return g
}
