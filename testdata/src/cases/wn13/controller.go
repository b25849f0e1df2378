package wn13

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/retry"
	"k8s.io/klog/v2"
)

// Warmer scales deployments before the morning rush. Every update carries the
// resourceVersion of the object its content was computed from.
type Warmer struct {
	cs   kubernetes.Interface
	ns   string
	want func(*appsv1.Deployment) int32
}

func (w *Warmer) Run(ctx context.Context, lock resourcelock.Interface) {
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				for ctx.Err() == nil {
					if err := w.reconcile(ctx); err != nil {
						klog.ErrorS(err, "reconcile")
					}
					time.Sleep(30 * time.Second)
				}
			},
			OnStoppedLeading: func() { klog.Fatal("lost the lease") },
		},
	})
}

func (w *Warmer) reconcile(ctx context.Context) error {
	list, err := w.cs.AppsV1().Deployments(w.ns).List(ctx, metav1.ListOptions{LabelSelector: "warm=true"})
	if err != nil {
		return err
	}
	for i := range list.Items {
		d := list.Items[i].DeepCopy()
		n := w.want(d)
		if d.Spec.Replicas != nil && *d.Spec.Replicas == n {
			continue
		}
		d.Spec.Replicas = &n
		if _, err := w.cs.AppsV1().Deployments(w.ns).Update(ctx, d, metav1.UpdateOptions{}); err != nil && !apierrors.IsConflict(err) {
			return fmt.Errorf("scale %s: %w", d.Name, err)
		}
		if err := w.note(ctx, d.Name); err != nil {
			return err
		}
	}
	return nil
}

// note marks the deployment, re-reading it on a conflict.
func (w *Warmer) note(ctx context.Context, name string) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		d, err := w.cs.AppsV1().Deployments(w.ns).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		metav1.SetMetaDataAnnotation(&d.ObjectMeta, "warmer/generation", fmt.Sprint(d.Generation))
		_, err = w.cs.AppsV1().Deployments(w.ns).Update(ctx, d, metav1.UpdateOptions{})
		return err
	})
}

// Backfill creates a job with a fixed name: the second creation is refused.
func (w *Warmer) Backfill(ctx context.Context, day string, spec batchv1.JobSpec) error {
	_, err := w.cs.BatchV1().Jobs(w.ns).Create(ctx, &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "backfill-" + day}, Spec: spec,
	}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
