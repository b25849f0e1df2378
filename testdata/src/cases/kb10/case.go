// Package kb10 takes Kubernetes Leases for the shards of an operator.
package kb10

import (
	"context"
	"errors"
	"time"

	coordv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
)

var ErrHeld = errors.New("shard is held by another replica")

type Shards struct {
	cs        kubernetes.Interface
	namespace string
	pod       string
	seconds   int32
}

func expired(l *coordv1.Lease, now time.Time) bool {
	if l.Spec.RenewTime == nil || l.Spec.LeaseDurationSeconds == nil {
		return true
	}
	end := l.Spec.RenewTime.Add(time.Duration(*l.Spec.LeaseDurationSeconds) * time.Second)
	return end.Before(now) // want:T
}

func (s *Shards) Acquire(ctx context.Context, name string) error {
	leases := s.cs.CoordinationV1().Leases(s.namespace)
	now := metav1.NowMicro()
	l, err := leases.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = leases.Create(ctx, &coordv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.namespace},
			Spec: coordv1.LeaseSpec{
				HolderIdentity: ptr.To(s.pod), LeaseDurationSeconds: ptr.To(s.seconds),
				AcquireTime: &now, RenewTime: &now,
			},
		}, metav1.CreateOptions{})
		return err
	}
	if err != nil {
		return err
	}
	if ptr.Deref(l.Spec.HolderIdentity, "") != s.pod && !expired(l, now.Time) { // may:T
		return ErrHeld
	}
	l.Spec.HolderIdentity = ptr.To(s.pod)
	l.Spec.LeaseDurationSeconds = ptr.To(s.seconds)
	l.Spec.AcquireTime, l.Spec.RenewTime = &now, &now
	_, err = leases.Update(ctx, l, metav1.UpdateOptions{})
	if apierrors.IsConflict(err) {
		return ErrHeld
	}
	return err
}
