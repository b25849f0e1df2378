package ud16

import (
	"context"
	"errors"
	"fmt"
	"time"

	coordv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

var ErrAlreadyHeld = errors.New("lease is held by another operator")

// Manager takes a Lease per node, so that only one maintenance operator works
// on it.
type Manager struct {
	kube     kubernetes.Interface
	holder   string
	ns       string
	duration time.Duration
}

func (m *Manager) spec(now time.Time) coordv1.LeaseSpec {
	secs := int32(m.duration / time.Second)
	t := metav1.NewMicroTime(now)
	return coordv1.LeaseSpec{HolderIdentity: &m.holder, LeaseDurationSeconds: &secs, AcquireTime: &t, RenewTime: &t}
}

func isExpired(l *coordv1.Lease) bool {
	if l.Spec.RenewTime == nil || l.Spec.LeaseDurationSeconds == nil {
		return true
	}
	end := l.Spec.RenewTime.Add(time.Duration(*l.Spec.LeaseDurationSeconds) * time.Second)
	return end.Before(time.Now()) // want:T
}

// Request creates the lease of the node or takes an expired one over.
func (m *Manager) Request(ctx context.Context, node string) error { // may:M|R
	leases := m.kube.CoordinationV1().Leases(m.ns)
	name := "node-" + node
	cur, err := leases.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = leases.Create(ctx, &coordv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: m.ns},
			Spec:       m.spec(time.Now()), // may:T
		}, metav1.CreateOptions{})
		return err
	}
	if err != nil {
		return err
	}
	mine := cur.Spec.HolderIdentity != nil && *cur.Spec.HolderIdentity == m.holder
	if !mine && !isExpired(cur) { // may:T
		return ErrAlreadyHeld
	}
	next := cur.DeepCopy()
	next.Spec = m.spec(time.Now())
	if _, err := leases.Update(ctx, next, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("take over %s: %w", name, err)
	}
	return nil
}
