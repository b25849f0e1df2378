package mn11

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
)

// Labeler changes what it has read, and says which version that was.
type Labeler struct {
	cs    kubernetes.Interface
	queue <-chan types.NamespacedName
}

func (l *Labeler) Callbacks() leaderelection.LeaderCallbacks {
	return leaderelection.LeaderCallbacks{
		OnStartedLeading: func(ctx context.Context) {
			for {
				select {
				case <-ctx.Done():
					return
				case nn := <-l.queue:
					if err := l.label(ctx, nn); err != nil {
						slog.ErrorContext(ctx, "label", "pod", nn, "err", err)
					}
				}
			}
		},
		OnStoppedLeading: func() {},
	}
}

func tier(p *corev1.Pod) string {
	if p.Spec.Priority != nil && *p.Spec.Priority > 1000 {
		return "gold"
	}
	return "standard"
}

func (l *Labeler) label(ctx context.Context, nn types.NamespacedName) error {
	pods := l.cs.CoreV1().Pods(nn.Namespace)
	p, err := pods.Get(ctx, nn.Name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("get pod: %w", err)
	}
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"resourceVersion": p.ResourceVersion,
		"labels":          map[string]string{"example.com/tier": tier(p)},
	}})
	if err != nil {
		return err
	}
	if _, err := pods.Patch(ctx, nn.Name, types.MergePatchType, body, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("patch pod: %w", err)
	}
	return l.count(ctx, nn.Namespace)
}

func (l *Labeler) count(ctx context.Context, ns string) error {
	cms := l.cs.CoreV1().ConfigMaps(ns)
	cm, err := cms.Get(ctx, "tiers", metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("get counts: %w", err)
	}
	if cm.Annotations == nil {
		cm.Annotations = map[string]string{}
	}
	cm.Annotations["example.com/last-change"] = cm.ResourceVersion
	if _, err := cms.Update(ctx, cm, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("update counts: %w", err)
	}
	return nil
}
