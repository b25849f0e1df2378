// Package ua14 publishes the routing table of a mesh as a ConfigMap.
package ua14

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/klog/v2"
)

type route struct {
	Host    string `json:"host"`
	Backend string `json:"backend"`
	Weight  int    `json:"weight"`
}

type Publisher struct {
	cs        kubernetes.Interface
	le        *leaderelection.LeaderElector
	ns, name  string
	mu        sync.Mutex
	routes    map[string]route
	published time.Time
}

// Observe is called by the informers of every replica.
func (p *Publisher) Observe(host, backend string, weight int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.routes[host] = route{Host: host, Backend: backend, Weight: weight}
}

func (p *Publisher) snapshot() []route {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]route, 0, len(p.routes))
	for _, r := range p.routes {
		out = append(out, r)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Host < out[j].Host })
	return out
}

// Sync writes the table; standbys only keep their copy warm.
func (p *Publisher) Sync(ctx context.Context) error {
	if !p.le.IsLeader() {
		klog.V(4).Info("standby, not publishing")
		return nil
	}
	raw, err := json.Marshal(p.snapshot())
	if err != nil {
		return err
	}
	cm := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.ns, Name: p.name, Labels: map[string]string{"app": "mesh"}},
		Data:       map[string]string{"routes.json": string(raw)},
	}
	_, err = p.cs.CoreV1().ConfigMaps(p.ns).Update(ctx, cm, metav1.UpdateOptions{FieldManager: "mesh"}) // want:C
	if apierrors.IsNotFound(err) {
		_, err = p.cs.CoreV1().ConfigMaps(p.ns).Create(ctx, cm, metav1.CreateOptions{FieldManager: "mesh"})
	}
	if err != nil {
		return fmt.Errorf("publish %s/%s: %w", p.ns, p.name, err)
	}
	p.published = time.Now()
	return nil
}
