package ub22

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// ShardClaimer gives every operator pod a share of the tenants, one Lease
// object per shard.
type ShardClaimer struct {
	cs  kubernetes.Interface
	ns  string
	pod string
	ttl int32
}

func free(l *coordinationv1.Lease) bool {
	if l.Spec.HolderIdentity == nil || *l.Spec.HolderIdentity == "" {
		return true
	}
	if l.Spec.RenewTime == nil || l.Spec.LeaseDurationSeconds == nil {
		return true
	}
	end := l.Spec.RenewTime.Add(time.Duration(*l.Spec.LeaseDurationSeconds) * time.Second)
	return end.Before(time.Now()) // want:T
}

// Claim goes over the shards and keeps or takes what it can.
func (c *ShardClaimer) Claim(ctx context.Context, limit int) ([]string, error) {
	list, err := c.cs.CoordinationV1().Leases(c.ns).List(ctx, metav1.ListOptions{LabelSelector: "role=shard"})
	if err != nil {
		return nil, err
	}
	var mine []string
	for i := range list.Items {
		l := &list.Items[i]
		held := l.Spec.HolderIdentity != nil && *l.Spec.HolderIdentity == c.pod
		if !held && (len(mine) >= limit || !free(l)) {
			continue
		}
		now := metav1.NowMicro()
		l.Spec.HolderIdentity = &c.pod
		l.Spec.RenewTime = &now
		l.Spec.LeaseDurationSeconds = &c.ttl
		_, err := c.cs.CoordinationV1().Leases(c.ns).Update(ctx, l, metav1.UpdateOptions{}) // may:T
		if apierrors.IsConflict(err) {
			continue
		}
		if err != nil {
			return mine, fmt.Errorf("shard %s: %w", l.Name, err)
		}
		mine = append(mine, l.Name)
	}
	return mine, nil
}
