package uf32

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// CapacityManager publishes extended resources in the status of nodes.
type CapacityManager struct {
	cs    kubernetes.Interface
	nodes <-chan *corev1.Node
	probe func(ctx context.Context, node string) (int64, error)
}

// patcher sends a merge patch for one sub-resource.
func (m *CapacityManager) patchStatus(ctx context.Context, node string, st any) error {
	raw, err := json.Marshal(struct {
		Status any `json:"status"`
	}{st})
	if err != nil {
		return fmt.Errorf("encode patch: %w", err)
	}
	_, err = m.cs.CoreV1().Nodes().Patch(ctx, node, types.StrategicMergePatchType, raw, metav1.PatchOptions{}, "status") // want:C|W
	if err != nil {
		return fmt.Errorf("patch %s: %w", node, err)
	}
	return nil
}

func (m *CapacityManager) sync(ctx context.Context, n *corev1.Node) error {
	free, err := m.probe(ctx, n.Name)
	if err != nil {
		return fmt.Errorf("probe %s: %w", n.Name, err)
	}
	st := map[string]any{"capacity": map[string]string{"example.com/slots": fmt.Sprint(free)}}
	return m.patchStatus(ctx, n.Name, st) // may:C|W
}

func (m *CapacityManager) work(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case n := <-m.nodes:
			if err := m.sync(ctx, n); err != nil { // may:C|W
				slog.ErrorContext(ctx, "sync", "node", n.Name, "err", err)
			}
		}
	}
}

func (m *CapacityManager) Elector(lock resourcelock.Interface) (*leaderelection.LeaderElector, error) {
	return leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:          lock,
		LeaseDuration: 30 * time.Second,
		RenewDeadline: 20 * time.Second,
		RetryPeriod:   4 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: m.work,
			OnStoppedLeading: func() { os.Exit(1) },
		},
	})
}
