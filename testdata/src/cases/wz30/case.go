package wz30

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"
)

// Controller keeps the state of backups in config maps. Every write carries the
// resourceVersion of the object it was computed from.
type Controller struct {
	client kubernetes.Interface
	ns     string
	epoch  int64
}

type ErrSuperseded struct{ Have, Want int64 }

func (e *ErrSuperseded) Error() string { return fmt.Sprintf("epoch %d, ours is %d", e.Have, e.Want) }

func (c *Controller) load(ctx context.Context, name string) (*corev1.ConfigMap, error) {
	cm, err := c.client.CoreV1().ConfigMaps(c.ns).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	have, _ := strconv.ParseInt(cm.Data["epoch"], 10, 64)
	if have > c.epoch {
		return nil, &ErrSuperseded{Have: have, Want: c.epoch}
	}
	return cm, nil
}

// Step is retried on conflict, each time from a fresh read.
func (c *Controller) Step(ctx context.Context, name, phase string) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		cm, err := c.load(ctx, name)
		if err != nil {
			return err
		}
		next := cm.DeepCopy()
		if next.Data == nil {
			next.Data = map[string]string{}
		}
		next.Data["phase"] = phase
		next.Data["epoch"] = strconv.FormatInt(c.epoch, 10)
		_, err = c.client.CoreV1().ConfigMaps(c.ns).Update(ctx, next, metav1.UpdateOptions{})
		return err
	})
}

// Label sends a patch whose body has the version.
func (c *Controller) Label(ctx context.Context, name, key, value string) error {
	cm, err := c.load(ctx, name)
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{
			"resourceVersion": cm.ResourceVersion,
			"labels":          map[string]string{key: value},
		},
	})
	if err != nil {
		return err
	}
	_, err = c.client.CoreV1().ConfigMaps(c.ns).Patch(ctx, name, types.MergePatchType, body, metav1.PatchOptions{})
	return err
}

func (c *Controller) Remove(ctx context.Context, name string) error {
	cm, err := c.load(ctx, name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return c.client.CoreV1().ConfigMaps(c.ns).Delete(ctx, name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &cm.UID, ResourceVersion: &cm.ResourceVersion},
	})
}
