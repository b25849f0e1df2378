package uc20

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

var ErrOtherAgent = errors.New("volume is attached by another agent")

// VolumeLeases lets one agent at a time attach a volume; a Lease per volume
// names the agent.
type VolumeLeases struct {
	api   coordclient.LeaseInterface
	agent string
	secs  int32
}

func lapsed(l *coordv1.Lease) bool {
	if l.Spec.RenewTime == nil || l.Spec.LeaseDurationSeconds == nil {
		return true
	}
	end := l.Spec.RenewTime.Add(time.Duration(*l.Spec.LeaseDurationSeconds) * time.Second)
	return end.Before(time.Now()) // want:T
}

// Attach takes the lease; updates carry the resourceVersion that was read.
func (v *VolumeLeases) Attach(ctx context.Context, volume string) error {
	now := metav1.NewMicroTime(time.Now()) // may:T
	cur, err := v.api.Get(ctx, "vol-"+volume, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = v.api.Create(ctx, &coordv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: "vol-" + volume},
			Spec: coordv1.LeaseSpec{
				HolderIdentity: ptr.To(v.agent), LeaseDurationSeconds: ptr.To(v.secs), RenewTime: &now,
			},
		}, metav1.CreateOptions{})
		return err
	}
	if err != nil {
		return err
	}
	if h := ptr.Deref(cur.Spec.HolderIdentity, ""); h != "" && h != v.agent && !lapsed(cur) { // may:T
		return fmt.Errorf("%w: %s", ErrOtherAgent, h)
	}
	cur.Spec.HolderIdentity = ptr.To(v.agent)
	cur.Spec.RenewTime = &now
	_, err = v.api.Update(ctx, cur, metav1.UpdateOptions{})
	return err
}
