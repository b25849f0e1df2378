// Package un16 rotates credentials of databases in a cluster, as leader.
package un16

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/retry"
	"k8s.io/klog/v2"
)

type Rotator struct {
	cs    kubernetes.Interface
	ns    string
	fresh func() ([]byte, error)
}

func (r *Rotator) Main(ctx context.Context, lock resourcelock.Interface) {
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				for {
					if err := r.all(ctx); err != nil {
						klog.ErrorS(err, "rotation")
					}
					select {
					case <-ctx.Done():
						return
					case <-time.After(10 * time.Minute):
					}
				}
			},
			OnStoppedLeading: func() { os.Exit(1) },
		},
	})
}

func (r *Rotator) all(ctx context.Context) error {
	list, err := r.cs.CoreV1().Secrets(r.ns).List(ctx, metav1.ListOptions{LabelSelector: "rotate=true"})
	if err != nil {
		return err
	}
	for i := range list.Items {
		s := &list.Items[i]
		if err := r.annotate(ctx, s); apierrors.IsConflict(err) {
			klog.V(2).InfoS("changed since it was listed, next round", "secret", s.Name)
			continue
		} else if err != nil {
			return err
		}
		if err := r.rotate(ctx, s.Name); err != nil {
			return fmt.Errorf("secret %s: %w", s.Name, err)
		}
	}
	return nil
}

// rotate changes the object that was read; the server refuses it if the
// object is another one by now.
func (r *Rotator) rotate(ctx context.Context, name string) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		s, err := r.cs.CoreV1().Secrets(r.ns).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		pw, err := r.fresh()
		if err != nil {
			return err
		}
		s = s.DeepCopy()
		s.Data["previous"], s.Data["password"] = s.Data["password"], pw
		_, err = r.cs.CoreV1().Secrets(r.ns).Update(ctx, s, metav1.UpdateOptions{})
		return err
	})
}

func (r *Rotator) annotate(ctx context.Context, s *corev1.Secret) error {
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"resourceVersion": s.ResourceVersion,
		"annotations":     map[string]string{"rotator/seen": "true"},
	}})
	if err != nil {
		return err
	}
	_, err = r.cs.CoreV1().Secrets(r.ns).Patch(ctx, s.Name, types.MergePatchType, body, metav1.PatchOptions{})
	return err
}
