package hz07

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/workqueue"
)

// Controller scales idle deployments to zero.
type Controller struct {
	cs    kubernetes.Interface
	queue workqueue.TypedRateLimitingInterface[objectKey]
	idle  time.Duration
}

type objectKey struct{ Namespace, Name string }

func (c *Controller) Run(ctx context.Context, lock resourcelock.Interface) {
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{ // may:M
		Lock: lock, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				go func() {
					<-ctx.Done()
					c.queue.ShutDown()
				}()
				for c.next(ctx) {
				}
			},
			OnStoppedLeading: func() {},
		},
	})
}

func (c *Controller) next(ctx context.Context) bool {
	k, quit := c.queue.Get()
	if quit {
		return false
	}
	defer c.queue.Done(k)
	if err := c.sync(ctx, k); err != nil {
		c.queue.AddRateLimited(k)
		return true
	}
	c.queue.Forget(k)
	return true
}

func (c *Controller) sync(ctx context.Context, k objectKey) error {
	d, err := c.cs.AppsV1().Deployments(k.Namespace).Get(ctx, k.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	at, err := time.Parse(time.RFC3339, d.Annotations["idle.example.com/last-request"])
	if err != nil || time.Since(at) < c.idle {
		return nil
	}
	d = d.DeepCopy()
	d.Spec.Replicas = new(int32)
	if d, err = c.cs.AppsV1().Deployments(k.Namespace).Update(ctx, d, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("scale down: %w", err)
	}
	return c.event(ctx, d)
}

func (c *Controller) event(ctx context.Context, d *appsv1.Deployment) error {
	_, err := c.cs.CoreV1().Events(d.Namespace).Create(ctx, &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{GenerateName: d.Name + "-", Namespace: d.Namespace},
		InvolvedObject: corev1.ObjectReference{Kind: "Deployment", Name: d.Name, Namespace: d.Namespace, UID: d.UID},
		Reason:         "Idle", Type: corev1.EventTypeNormal,
	}, metav1.CreateOptions{})
	return err
}
