package hy05

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

// Claimer assigns accelerator cards to agents by Lease objects.
type Claimer struct {
	cs       kubernetes.Interface
	ns       string
	identity string
	seconds  int32
}

func expired(l *coordinationv1.Lease) bool {
	if l.Spec.RenewTime == nil || l.Spec.LeaseDurationSeconds == nil {
		return true
	}
	end := l.Spec.RenewTime.Add(time.Duration(*l.Spec.LeaseDurationSeconds) * time.Second)
	return end.Before(time.Now()) // want:T
}

// Claim takes the card unless another agent has it.
func (c *Claimer) Claim(ctx context.Context, card string) (bool, error) {
	leases := c.cs.CoordinationV1().Leases(c.ns)
	now := metav1.NewMicroTime(time.Now())
	spec := coordinationv1.LeaseSpec{
		HolderIdentity:       ptr.To(c.identity),
		LeaseDurationSeconds: ptr.To(c.seconds),
		AcquireTime:          &now,
		RenewTime:            &now,
	}
	cur, err := leases.Get(ctx, card, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = leases.Create(ctx, &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: card, Namespace: c.ns},
			Spec:       spec,
		}, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return false, nil
		}
		return err == nil, err
	}
	if err != nil {
		return false, fmt.Errorf("lease %s: %w", card, err)
	}
	if ptr.Deref(cur.Spec.HolderIdentity, "") != c.identity && !expired(cur) { // may:T
		return false, nil
	}
	next := cur.DeepCopy()
	next.Spec = spec
	_, err = leases.Update(ctx, next, metav1.UpdateOptions{})
	if apierrors.IsConflict(err) {
		return false, nil
	}
	return err == nil, err
}
