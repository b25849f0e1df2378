package uc12

import (
	"context"
	"encoding/json"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

// Topology is what every proxy reads from the config map.
type Topology struct {
	Primary  string   `json:"primary"`
	Replicas []string `json:"replicas"`
}

type Publisher struct {
	cs       kubernetes.Interface
	ns, name string
	probe    func(ctx context.Context) (Topology, error)
}

func (p *Publisher) Main(ctx context.Context) error {
	id, err := os.Hostname()
	if err != nil {
		return err
	}
	lock, err := resourcelock.New(resourcelock.LeasesResourceLock, p.ns, p.name+"-leader",
		p.cs.CoreV1(), p.cs.CoordinationV1(), resourcelock.ResourceLockConfig{Identity: id})
	if err != nil {
		return err
	}
	cfg := leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 3 * time.Second,
	}
	cfg.Callbacks.OnStartedLeading = func(ctx context.Context) {
		tick := time.NewTicker(5 * time.Second)
		defer tick.Stop()
		for ctx.Err() == nil {
			topo, err := p.probe(ctx)
			if err != nil {
				klog.ErrorS(err, "probe")
			} else if err := p.publish(ctx, topo); err != nil {
				klog.ErrorS(err, "publish")
			}
			<-tick.C
		}
	}
	cfg.Callbacks.OnStoppedLeading = func() { klog.Info("stopped leading") }
	el, err := leaderelection.NewLeaderElector(cfg)
	if err != nil {
		return err
	}
	el.Run(ctx)
	return nil
}

// publish builds the object from scratch: without a resourceVersion the API
// server takes it whatever is stored by then.
func (p *Publisher) publish(ctx context.Context, t Topology) error {
	raw, err := json.Marshal(t)
	if err != nil {
		return err
	}
	cm := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: p.name, Namespace: p.ns, Labels: map[string]string{"app": "proxy"}},
		Data:       map[string]string{"topology.json": string(raw)},
	}
	_, err = p.cs.CoreV1().ConfigMaps(p.ns).Update(ctx, cm, metav1.UpdateOptions{}) // want:C
	return err
}
