package uf21

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
)

// NodeLocker serialises node reboots with one Lease object.
type NodeLocker struct {
	cs     kubernetes.Interface
	ns     string
	name   string
	holder string
}

// expired looks at the time that the other daemon wrote.
func expired(l *coordinationv1.Lease) bool {
	if l.Spec.RenewTime == nil || l.Spec.LeaseDurationSeconds == nil {
		return true
	}
	ttl := time.Duration(*l.Spec.LeaseDurationSeconds) * time.Second
	return l.Spec.RenewTime.Add(ttl).Before(time.Now()) // want:T
}

// Acquire takes the Lease if it is free or run out. The update itself carries
// the resourceVersion that was read.
func (n *NodeLocker) Acquire(ctx context.Context, ttl time.Duration) (bool, error) {
	leases := n.cs.CoordinationV1().Leases(n.ns)
	cur, err := leases.Get(ctx, n.name, metav1.GetOptions{})
	if err != nil {
		return false, fmt.Errorf("get lease %s: %w", n.name, err)
	}
	if h := ptr.Deref(cur.Spec.HolderIdentity, ""); h != "" && h != n.holder && !expired(cur) { // may:T
		return false, nil
	}
	now := metav1.NewMicroTime(time.Now())
	cur.Spec.HolderIdentity = &n.holder
	cur.Spec.AcquireTime, cur.Spec.RenewTime = &now, &now // may:T
	cur.Spec.LeaseDurationSeconds = ptr.To(int32(ttl / time.Second))
	if _, err := leases.Update(ctx, cur, metav1.UpdateOptions{}); err != nil {
		if apierrors.IsConflict(err) {
			return false, nil
		}
		return false, fmt.Errorf("update lease %s: %w", n.name, err)
	}
	return true, nil
}
