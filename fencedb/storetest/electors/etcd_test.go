package electors

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"google.golang.org/grpc"
)

// sessionTTL is the other electors' TTL, in seconds. The default of a session is 60.
const sessionTTL = 15

// openEtcd starts an etcd server in this process. Its candidates are of etcd's concurrency
// package, and each has a connection of its own.
func openEtcd(t *testing.T) func() campaign {
	server := startEtcd(t)
	var contests atomic.Int64
	return func() campaign {
		prefix := fmt.Sprintf("electors/%d", contests.Add(1))
		return func(ctx context.Context, id string, n *network, elected func(term)) error {
			client, err := clientv3.New(clientv3.Config{Endpoints: []string{server}, Logger: zap.NewNop(), DialOptions: n.etcd()})
			if err != nil {
				return err
			}
			defer func() { _ = client.Close() }() // its session is left to expire: what becomes of the keys is no part of this
			session, err := concurrency.NewSession(client, concurrency.WithTTL(sessionTTL), concurrency.WithContext(ctx))
			if err != nil {
				return err
			}
			if err := concurrency.NewElection(session, prefix).Campaign(ctx, id); err != nil {
				return err
			}
			elected(term{over: session.Done(), believes: func() bool {
				select {
				case <-session.Done():
					return false
				default:
					return true
				}
			}})
			<-ctx.Done()
			return ctx.Err()
		}
	}
}

// startEtcd starts one member with etcd's own settings and returns where it listens.
func startEtcd(t *testing.T) string {
	t.Helper()
	local := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	cfg := embed.NewConfig()
	cfg.Dir = t.TempDir()
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls, cfg.ListenClientUrls, cfg.AdvertiseClientUrls = local, local, local, local
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	cfg.UnsafeNoFsync = true
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	e, err := embed.StartEtcd(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	select {
	case <-e.Server.ReadyNotify():
	case err := <-e.Err():
		t.Fatal(err)
	case <-time.After(patience):
		t.Fatalf("etcd is not ready after %v", patience)
	}
	return e.Clients[0].Addr().String()
}

// etcd puts the network below a client of etcd.
func (n *network) etcd() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			if lost, _ := n.send(false); lost {
				<-ctx.Done()
				return ctx.Err()
			}
			return invoke(ctx, method, req, reply, cc, opts...)
		}),
		grpc.WithChainStreamInterceptor(func(ctx context.Context, d *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
			s, err := open(ctx, d, cc, method, opts...)
			if err != nil || method != "/etcdserverpb.Lease/LeaseKeepAlive" {
				return s, err
			}
			return &keepAlives{ClientStream: s, network: n, late: make(map[int]time.Duration)}, nil
		}),
	}
}

// keepAlives is the stream of a client's renewals. Each has one answer, in their order.
type keepAlives struct {
	grpc.ClientStream
	network *network

	mu             sync.Mutex
	sent, received int
	late           map[int]time.Duration // by the number of the answer
}

// SendMsg sends a renewal, if it is not lost.
func (s *keepAlives) SendMsg(m any) error {
	lost, late := s.network.send(true)
	if lost {
		return nil
	}
	s.mu.Lock()
	s.sent++
	s.late[s.sent] = late
	s.mu.Unlock()
	return s.ClientStream.SendMsg(m)
}

// RecvMsg receives an answer, late if it is to be.
func (s *keepAlives) RecvMsg(m any) error {
	if err := s.ClientStream.RecvMsg(m); err != nil {
		return err
	}
	s.mu.Lock()
	s.received++
	late := s.late[s.received]
	delete(s.late, s.received)
	s.mu.Unlock()
	return wait(s.Context(), late)
}
