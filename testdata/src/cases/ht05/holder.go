package ht05

import (
	"context"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

type Claimer struct {
	cs  kubernetes.Interface
	ns  string
	pod string
}

func stale(l *coordinationv1.Lease) bool {
	if l.Spec.RenewTime == nil || l.Spec.LeaseDurationSeconds == nil {
		return true
	}
	end := l.Spec.RenewTime.Add(time.Duration(*l.Spec.LeaseDurationSeconds) * time.Second)
	return time.Now().After(end) // want:T
}

// Claim takes the lease over when its holder has not renewed it in time. The
// update itself is conditional on the resource version.
func (c *Claimer) Claim(ctx context.Context, name string) (bool, error) {
	api := c.cs.CoordinationV1().Leases(c.ns)
	l, err := api.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return false, err
	}
	if h := l.Spec.HolderIdentity; h != nil && *h != "" && *h != c.pod && !stale(l) { // may:T
		return false, nil
	}
	now := metav1.NowMicro()
	l.Spec.HolderIdentity = &c.pod
	l.Spec.RenewTime = &now
	_, err = api.Update(ctx, l, metav1.UpdateOptions{})
	return err == nil, err
}
