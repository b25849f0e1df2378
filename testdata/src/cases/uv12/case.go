package uv12

import (
	"context"
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Rollouts annotates deployments with the release the operator decided on.
type Rollouts struct {
	client kubernetes.Interface
	ns     string
	decide func(ctx context.Context, deployment string) (release string, err error)
}

func (r *Rollouts) Start(ctx context.Context, lock resourcelock.Interface, names []string) {
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock:            lock,
		LeaseDuration:   15 * time.Second,
		RenewDeadline:   10 * time.Second,
		RetryPeriod:     2 * time.Second,
		ReleaseOnCancel: false,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) { r.loop(ctx, names) },
			OnStoppedLeading: func() {},
		},
	})
}

func (r *Rollouts) loop(ctx context.Context, names []string) {
	t := time.NewTicker(30 * time.Second)
	defer t.Stop()
	for {
		for _, n := range names {
			rel, err := r.decide(ctx, n)
			if err != nil {
				continue
			}
			_ = r.annotate(ctx, n, rel) // may:C|W
		}
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

// annotate patches without naming the version of the object it decided on.
func (r *Rollouts) annotate(ctx context.Context, name, release string) error {
	patch := map[string]any{
		"metadata": map[string]any{
			"annotations": map[string]string{"rollouts.example.com/release": release},
		},
	}
	raw, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	_, err = r.client.AppsV1().Deployments(r.ns).Patch(ctx, name, types.StrategicMergePatchType, raw, metav1.PatchOptions{}) // want:C|W
	return err
}
