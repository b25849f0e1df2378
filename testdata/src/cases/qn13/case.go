package qn13

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/leaderelection"
)

var backups = schema.GroupVersionResource{Group: "db.example.com", Version: "v1alpha1", Resource: "backups"}

// Operator runs while it leads. Its patches carry the resourceVersion of the
// object the decision was made on.
type Operator struct {
	dyn  dynamic.Interface
	next func(*unstructured.Unstructured) (phase string, err error)
}

func (o *Operator) Callbacks(work <-chan types.NamespacedName) leaderelection.LeaderCallbacks {
	return leaderelection.LeaderCallbacks{
		OnStartedLeading: func(ctx context.Context) {
			for {
				select {
				case <-ctx.Done():
					return
				case nn := <-work:
					if err := o.step(ctx, nn); err != nil {
						return
					}
				}
			}
		},
		OnStoppedLeading: func() {},
	}
}

func (o *Operator) step(ctx context.Context, nn types.NamespacedName) error {
	rc := o.dyn.Resource(backups).Namespace(nn.Namespace)
	obj, err := rc.Get(ctx, nn.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	phase, err := o.next(obj)
	if err != nil {
		return fmt.Errorf("%s: %w", nn, err)
	}
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": obj.GetResourceVersion()},
		"status":   map[string]any{"phase": phase},
	})
	if err != nil {
		return err
	}
	_, err = rc.Patch(ctx, nn.Name, types.MergePatchType, body, metav1.PatchOptions{}, "status")
	return err
}
