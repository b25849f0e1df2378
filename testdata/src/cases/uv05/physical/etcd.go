// Package physical stores opaque values.
package physical

import (
	"context"
	"path"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Store is implemented by every storage plugin.
type Store interface {
	Get(ctx context.Context, key string) ([]byte, error)
	Put(ctx context.Context, key string, value []byte) error
	Delete(ctx context.Context, key string) error
}

type etcdStore struct {
	client  *clientv3.Client
	root    string
	timeout time.Duration
}

var _ Store = (*etcdStore)(nil)

func NewEtcd(c *clientv3.Client, root string) Store {
	return &etcdStore{client: c, root: root, timeout: 5 * time.Second}
}

func (s *etcdStore) Get(ctx context.Context, key string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	resp, err := s.client.Get(ctx, path.Join(s.root, key))
	if err != nil || len(resp.Kvs) == 0 {
		return nil, err
	}
	return resp.Kvs[0].Value, nil
}

func (s *etcdStore) Put(ctx context.Context, key string, value []byte) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	_, err := s.client.Put(ctx, path.Join(s.root, key), string(value)) // want:W
	return err
}

func (s *etcdStore) Delete(ctx context.Context, key string) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	if _, err := s.client.Delete(ctx, path.Join(s.root, key)); err != nil { // want:W
		return err
	}
	return nil
}
