package hx13

import (
	"context"
	"errors"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Registry binds partitions to broker nodes in etcd. A node registers itself
// under the partition's key with its lease.
type Registry struct {
	cli    *clientv3.Client
	nodeID string
	lease  clientv3.LeaseID
}

var ErrTaken = errors.New("partition has an owner")

func ownerKey(p string) string  { return "/brokers/owners/" + p }
func offsetKey(p string) string { return "/brokers/offsets/" + p }

func (r *Registry) Acquire(ctx context.Context, part string) error {
	key := ownerKey(part)
	resp, err := r.cli.Txn(ctx).
		If(clientv3.Compare(clientv3.CreateRevision(key), "=", 0)).
		Then(clientv3.OpPut(key, r.nodeID, clientv3.WithLease(r.lease))).
		Commit()
	if err != nil {
		return err
	}
	if !resp.Succeeded {
		return ErrTaken
	}
	return nil
}

func (r *Registry) owner(ctx context.Context, part string) (string, error) {
	resp, err := r.cli.Get(ctx, ownerKey(part))
	if err != nil {
		return "", fmt.Errorf("owner of %s: %w", part, err)
	}
	if len(resp.Kvs) == 0 {
		return "", nil
	}
	return string(resp.Kvs[0].Value), nil
}

// Commit stores the consumer offset if the partition is still ours.
func (r *Registry) Commit(ctx context.Context, part string, off int64) error {
	cur, err := r.owner(ctx, part)
	if err != nil {
		return err
	}
	if cur != r.nodeID {
		return ErrTaken
	}
	_, err = r.cli.Put(ctx, offsetKey(part), fmt.Sprint(off)) // want:C|W
	return err
}

// Release gives the partition up.
func (r *Registry) Release(ctx context.Context, part string) error {
	switch cur, err := r.owner(ctx, part); {
	case err != nil:
		return err
	case cur == "":
		return nil
	case cur == r.nodeID:
		_, err = r.cli.Delete(ctx, ownerKey(part)) // want:C|W
		return err
	default:
		return ErrTaken
	}
}
