package yn03

import (
	"context"
	"os"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/retry"
)

// Controller raises the serial number kept in a config map.
type Controller struct {
	kube kubernetes.Interface
	ns   string
}

func (c *Controller) Run(ctx context.Context, id string) {
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Name: "zone-controller", Namespace: c.ns},
			Client:     c.kube.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: id},
		},
		LeaseDuration: 15 * time.Second,
		RenewDeadline: 10 * time.Second,
		RetryPeriod:   2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				for ctx.Err() == nil {
					_ = c.reconcile(ctx)
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

func (c *Controller) reconcile(ctx context.Context) error {
	maps := c.kube.CoreV1().ConfigMaps(c.ns)
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		cm, err := maps.Get(ctx, "zone-serial", metav1.GetOptions{})
		if err != nil {
			return err
		}
		next := cm.DeepCopy()
		serial, err := strconv.Atoi(cm.Data["serial"])
		if err != nil {
			return err
		}
		next.Data["serial"] = strconv.Itoa(serial + 1)
		_, err = maps.Update(ctx, next, metav1.UpdateOptions{})
		return err
	})
}
