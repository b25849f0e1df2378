package hc11

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Slots hands numbered worker slots to nodes. The key is the claim.
type Slots struct {
	kv     clientv3.KV
	nodeID string
}

func claimKey(n int) string { return fmt.Sprintf("/cluster/claims/%03d", n) }

func (s *Slots) Take(ctx context.Context, n int, lease clientv3.LeaseID) (bool, error) {
	k := claimKey(n)
	resp, err := s.kv.Txn(ctx).
		If(clientv3.Compare(clientv3.CreateRevision(k), "=", 0)).
		Then(clientv3.OpPut(k, s.nodeID, clientv3.WithLease(lease))).
		Commit()
	if err != nil {
		return false, err
	}
	return resp.Succeeded, nil
}

func (s *Slots) Free(ctx context.Context, n int) error {
	got, err := s.kv.Get(ctx, claimKey(n))
	if err != nil {
		return fmt.Errorf("read claim: %w", err)
	}
	if got.Count == 0 || string(got.Kvs[0].Value) != s.nodeID {
		return nil
	}
	if _, err := s.kv.Delete(ctx, claimKey(n)); err != nil { // want:C
		return fmt.Errorf("free claim: %w", err)
	}
	return nil
}
