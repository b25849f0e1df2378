package hn22

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/leaderelection"
)

var databases = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "databases"}

type Operator struct {
	dyn dynamic.Interface
	le  *leaderelection.LeaderElector
	ns  string
}

// Reconcile compares generation with observedGeneration and updates the
// status of the object it read.
func (o *Operator) Reconcile(ctx context.Context, name string) error {
	if !o.le.IsLeader() {
		return nil
	}
	api := o.dyn.Resource(databases).Namespace(o.ns)
	obj, err := api.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	seen, _, err := unstructured.NestedInt64(obj.Object, "status", "observedGeneration")
	if err != nil {
		return err
	}
	if seen == obj.GetGeneration() {
		return nil
	}
	obj = obj.DeepCopy()
	if err := unstructured.SetNestedField(obj.Object, obj.GetGeneration(), "status", "observedGeneration"); err != nil {
		return err
	}
	_, err = api.UpdateStatus(ctx, obj, metav1.UpdateOptions{})
	return err
}
