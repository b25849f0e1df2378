package hn31

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Keeper creates and deletes objects by name under leader election.
type Keeper struct {
	cs kubernetes.Interface
	ns string
}

func (k *Keeper) Run(ctx context.Context, rl resourcelock.Interface) {
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: rl, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		ReleaseOnCancel: true,
		Callbacks:       leaderelection.LeaderCallbacks{OnStartedLeading: k.loop, OnStoppedLeading: func() {}},
	})
}

func (k *Keeper) loop(ctx context.Context) {
	for ctx.Err() == nil {
		_, err := k.cs.CoreV1().ConfigMaps(k.ns).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "defaults"}}, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return
		}
		if err := k.cs.CoreV1().ConfigMaps(k.ns).Delete(ctx, "legacy", metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return
		}
		time.Sleep(time.Minute)
	}
}
