// Package ua25 takes volumes over from nodes that went away. Every volume has
// a Lease object beside it.
package ua25

import (
	"context"
	"fmt"
	"time"

	coordv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
)

type Agent struct {
	cs   kubernetes.Interface
	ns   string
	node string
}

func (a *Agent) abandoned(l *coordv1.Lease) bool {
	if l.Spec.HolderIdentity == nil || *l.Spec.HolderIdentity == "" {
		return true
	}
	if l.Spec.RenewTime == nil || l.Spec.LeaseDurationSeconds == nil {
		return true
	}
	d := time.Duration(*l.Spec.LeaseDurationSeconds) * time.Second
	return l.Spec.RenewTime.Add(d).Before(time.Now()) // want:T
}

// Adopt makes this node the holder of a volume, if the last one is gone.
func (a *Agent) Adopt(ctx context.Context, volume string) (bool, error) {
	leases := a.cs.CoordinationV1().Leases(a.ns)
	l, err := leases.Get(ctx, "vol-"+volume, metav1.GetOptions{})
	if err != nil {
		return false, fmt.Errorf("volume %s: %w", volume, err)
	}
	if !a.abandoned(l) {
		return false, nil
	}
	now := metav1.NowMicro()
	l = l.DeepCopy()
	l.Spec.HolderIdentity = &a.node
	l.Spec.AcquireTime, l.Spec.RenewTime = &now, &now
	if l.Spec.LeaseTransitions != nil {
		n := *l.Spec.LeaseTransitions + 1
		l.Spec.LeaseTransitions = &n
	}
	_, err = leases.Update(ctx, l, metav1.UpdateOptions{})
	switch {
	case apierrors.IsConflict(err):
		klog.V(2).InfoS("volume was adopted by another node", "volume", volume)
		return false, nil
	case err != nil:
		return false, err
	}
	return true, nil
}
