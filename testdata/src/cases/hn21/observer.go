package hn21

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Watcher judges other members by what it saw change itself: no clock of
// another process takes part.
type Watcher struct {
	cs   kubernetes.Interface
	ns   string
	self string
	seen map[string]sighting
}

type sighting struct {
	version string
	at      time.Time
}

func (w *Watcher) Steal(ctx context.Context, name string, limit time.Duration) (bool, error) {
	l, err := w.cs.CoordinationV1().Leases(w.ns).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return false, err
	}
	s, ok := w.seen[name]
	if !ok || s.version != l.ResourceVersion {
		w.seen[name] = sighting{version: l.ResourceVersion, at: time.Now()}
		return false, nil
	}
	if time.Since(s.at) < limit {
		return false, nil
	}
	l.Spec.HolderIdentity = &w.self
	if l, err = w.cs.CoordinationV1().Leases(w.ns).Update(ctx, l, metav1.UpdateOptions{}); err != nil {
		return false, err
	}
	w.seen[name] = sighting{version: l.ResourceVersion, at: time.Now()}
	return true, nil
}
