//go:build linux

package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/etcdlease"
	"github.com/fencelint/fence/fencedb/storetest/takeovers/journal"
)

type etcdStore struct {
	name    string
	clients []*clientv3.Client
	leases  *etcdlease.Coordinator
	guards  *etcdlease.Guard
}

func openEtcd(c Config) (*etcdStore, error) {
	client, err := Dial(c.Sources)
	if err != nil {
		return nil, err
	}
	s := &etcdStore{name: c.Name, clients: []*clientv3.Client{client}}
	if s.leases, err = etcdlease.New(client); err != nil {
		return nil, err
	}
	if c.Apart { // a coordinator raises only the guards of its own client
		if client, err = Dial(c.Sources); err != nil {
			return nil, err
		}
		s.clients = append(s.clients, client)
	}
	s.guards, err = etcdlease.NewGuard(client, Prefix)
	return s, err
}

// Dial returns a client that connects again soon after it was cut off.
func Dial(endpoints []string) (*clientv3.Client, error) {
	again := grpc.ConnectParams{Backoff: backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.5, Jitter: 0.2, MaxDelay: 500 * time.Millisecond}, MinConnectTimeout: time.Second}
	return clientv3.New(clientv3.Config{Endpoints: endpoints, Logger: zap.NewNop(), DialOptions: []grpc.DialOption{grpc.WithConnectParams(again)}})
}

func (s *etcdStore) coordinator() fencedb.Coordinator { return s.leases }
func (s *etcdStore) guard() fencedb.Guard             { return s.guards }

func (s *etcdStore) close() (err error) {
	for _, c := range s.clients {
		err = errors.Join(err, c.Close())
	}
	return err
}

// written is the value of a write's key.
type written struct {
	Resource, Worker string
	Token, N         int64
}

func (s *etcdStore) write(ctx context.Context, t fencedb.Token, n int64, _ time.Duration) error {
	value, err := json.Marshal(written{t.Resource(), s.name, t.Value(), n})
	if err != nil {
		return err
	}
	_, err = s.guards.Fenced(ctx, t, clientv3.OpPut(fmt.Sprintf("%s/%s/%d", History, s.name, n), string(value)))
	return err
}

// EtcdRows reads what a cluster kept: each key of a write, and each revision of a guard's key.
// Their order is that of etcd's revisions.
func EtcdRows(ctx context.Context, client *clientv3.Client) (all []journal.Row, err error) {
	resp, err := client.Get(ctx, History+"/", clientv3.WithPrefix())
	if err != nil {
		return nil, err
	}
	for _, kv := range resp.Kvs {
		var w written
		if err := json.Unmarshal(kv.Value, &w); err != nil {
			return nil, fmt.Errorf("%s: %w", kv.Key, err)
		}
		if kv.Version != 1 {
			return nil, fmt.Errorf("%s was written %d times", kv.Key, kv.Version)
		}
		all = append(all, journal.Row{Seq: kv.ModRevision, Resource: w.Resource, Token: w.Token, Worker: w.Worker, N: w.N})
	}
	guards, err := client.Get(ctx, Prefix+"/guard/", clientv3.WithPrefix())
	if err != nil {
		return nil, err
	}
	var last int64 // revision of a guard
	for _, kv := range guards.Kvs {
		last = max(last, kv.ModRevision)
	}
	if last == 0 {
		return all, nil
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for watched := range client.Watch(ctx, Prefix+"/guard/", clientv3.WithPrefix(), clientv3.WithRev(1)) {
		if err := watched.Err(); err != nil {
			return nil, err
		}
		for _, e := range watched.Events {
			r, err := raise(e)
			if err != nil {
				return nil, err
			}
			if all = append(all, r); r.Seq == last {
				return all, nil
			}
		}
	}
	return nil, fmt.Errorf("watching the guards: %w", context.Cause(ctx))
}

// raise reads a revision of a guard's key, see etcdlease.Guard.
func raise(e *clientv3.Event) (journal.Row, error) {
	key := string(e.Kv.Key)
	r := journal.Row{Seq: e.Kv.ModRevision, Raise: true, Resource: strings.TrimPrefix(key, Prefix+"/guard/"), Seen: -1}
	number, grant, ok := strings.Cut(string(e.Kv.Value), "/")
	if e.Type != clientv3.EventTypePut || !ok {
		return r, fmt.Errorf("the guard %s became %q (%s)", key, e.Kv.Value, e.Type)
	}
	r.Grant = grant
	incarnation, own := strings.CutPrefix(number, "@")
	n, err := strconv.ParseInt(incarnation, 10, 64)
	if err != nil {
		return r, fmt.Errorf("the guard %s became %q: %w", key, e.Kv.Value, err)
	}
	if r.Token = n; own {
		r.Token, err = fencedb.MakeValue(int(n), e.Kv.ModRevision)
	}
	return r, err
}
