package hn10

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/retry"
)

type Controller struct {
	cs    kubernetes.Interface
	ns    string
	queue chan string
}

func (c *Controller) Run(ctx context.Context, rl resourcelock.Interface) error {
	le, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: rl, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				wait.UntilWithContext(ctx, c.work, time.Second)
			},
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return err
	}
	le.Run(ctx)
	return nil
}

func (c *Controller) work(ctx context.Context) {
	select {
	case name := <-c.queue:
		_ = c.sync(ctx, name)
	case <-ctx.Done():
	}
}

// sync writes with the resource version it read; a successor's change makes
// the update fail.
func (c *Controller) sync(ctx context.Context, name string) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		d, err := c.cs.AppsV1().Deployments(c.ns).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if d.Generation == d.Status.ObservedGeneration && settled(d) {
			return nil
		}
		next := d.DeepCopy()
		if next.Annotations == nil {
			next.Annotations = map[string]string{}
		}
		next.Annotations["example.com/synced"] = "true"
		_, err = c.cs.AppsV1().Deployments(c.ns).Update(ctx, next, metav1.UpdateOptions{})
		return err
	})
}

func settled(d *appsv1.Deployment) bool {
	return d.Status.ReadyReplicas == d.Status.Replicas
}
