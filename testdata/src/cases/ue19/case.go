package ue19

import (
	"context"
	"errors"
	"fmt"
	"time"

	coordv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/utils/ptr"
)

var ErrShardBusy = errors.New("shard is reconciled by another replica")

// ShardLeases spreads the shards of an operator over its replicas, one Lease
// object per shard.
type ShardLeases struct {
	leases   coordclient.LeaseInterface
	replica  string
	duration time.Duration
}

func (s *ShardLeases) name(shard int) string { return fmt.Sprintf("shard-%03d", shard) }

func (s *ShardLeases) create(ctx context.Context, shard int) (*coordv1.Lease, error) {
	now := metav1.NowMicro()
	return s.leases.Create(ctx, &coordv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: s.name(shard)},
		Spec: coordv1.LeaseSpec{
			HolderIdentity:       ptr.To(s.replica),
			LeaseDurationSeconds: ptr.To(int32(s.duration / time.Second)),
			AcquireTime:          &now,
			RenewTime:            &now,
		},
	}, metav1.CreateOptions{})
}

// TryAcquire returns the lease when this replica has the shard.
func (s *ShardLeases) TryAcquire(ctx context.Context, shard int) (*coordv1.Lease, error) {
	cur, err := s.leases.Get(ctx, s.name(shard), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return s.create(ctx, shard)
	}
	if err != nil {
		return nil, err
	}
	holder := ptr.Deref(cur.Spec.HolderIdentity, "")
	if holder != "" && holder != s.replica && cur.Spec.RenewTime != nil {
		ttl := time.Duration(ptr.Deref(cur.Spec.LeaseDurationSeconds, 15)) * time.Second
		if cur.Spec.RenewTime.Add(ttl).After(time.Now()) { // want:T
			return nil, ErrShardBusy
		}
	}
	next := cur.DeepCopy()
	now := metav1.NowMicro()
	next.Spec.HolderIdentity = ptr.To(s.replica)
	next.Spec.RenewTime = &now
	if holder != s.replica {
		next.Spec.AcquireTime = &now
		next.Spec.LeaseTransitions = ptr.To(ptr.Deref(cur.Spec.LeaseTransitions, 0) + 1)
	}
	got, err := s.leases.Update(ctx, next, metav1.UpdateOptions{})
	if apierrors.IsConflict(err) {
		return nil, ErrShardBusy
	}
	return got, err
}
