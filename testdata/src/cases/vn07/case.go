package vn07

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Controller fills namespaces with a default quota config. All its updates
// carry the resourceVersion of the object they were computed from.
type Controller struct {
	cs   kubernetes.Interface
	lock resourcelock.Interface
}

func (c *Controller) Run(ctx context.Context) {
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: c.lock, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				for ctx.Err() == nil {
					if err := c.sync(ctx); err != nil {
						log.Printf("sync: %v", err)
					}
					select {
					case <-ctx.Done():
					case <-time.After(30 * time.Second):
					}
				}
			},
			OnStoppedLeading: func() { os.Exit(1) },
		},
	})
}

func (c *Controller) sync(ctx context.Context) error {
	nss, err := c.cs.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range nss.Items {
		if err := c.one(ctx, nss.Items[i].Name); err != nil {
			return fmt.Errorf("%s: %w", nss.Items[i].Name, err)
		}
	}
	return nil
}

func (c *Controller) one(ctx context.Context, ns string) error {
	api := c.cs.CoreV1().ConfigMaps(ns)
	cur, err := api.Get(ctx, "quota", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = api.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: "quota"},
			Data:       map[string]string{"pods": "50"},
		}, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	}
	if err != nil {
		return err
	}
	if cur.Data["pods"] != "" {
		return nil
	}
	next := cur.DeepCopy()
	if next.Data == nil {
		next.Data = map[string]string{}
	}
	next.Data["pods"] = "50"
	_, err = api.Update(ctx, next, metav1.UpdateOptions{})
	return err
}
