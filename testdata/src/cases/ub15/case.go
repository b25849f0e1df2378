package ub15

import (
	"context"
	"encoding/json"
	"log"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
)

// Publisher writes the list of healthy backends where the proxies read it.
type Publisher struct {
	cs      kubernetes.Interface
	elector *leaderelection.LeaderElector
	ns      string
	probe   func(ctx context.Context, addr string) bool
}

func (p *Publisher) Loop(ctx context.Context, addrs []string) {
	go p.elector.Run(ctx)
	t := time.NewTicker(10 * time.Second)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			if err := p.tick(ctx, addrs); err != nil {
				log.Printf("publish: %v", err)
			}
		}
	}
}

// tick probes first (slow), having looked at the leadership before that. The
// object is built from nothing and carries no resourceVersion.
func (p *Publisher) tick(ctx context.Context, addrs []string) error {
	if !p.elector.IsLeader() {
		return nil
	}
	up := make([]string, 0, len(addrs))
	for _, a := range addrs {
		if p.probe(ctx, a) {
			up = append(up, a)
		}
	}
	raw, err := json.Marshal(up)
	if err != nil {
		return err
	}
	cm := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "backends", Namespace: p.ns},
		Data:       map[string]string{"healthy": string(raw)},
	}
	_, err = p.cs.CoreV1().ConfigMaps(p.ns).Update(ctx, cm, metav1.UpdateOptions{}) // want:C
	return err
}
