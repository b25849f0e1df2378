package mn15

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

type seen struct {
	version string
	at      time.Time // when this process saw the version for the first time
}

// Failures suspects a peer whose Lease did not change for long enough, counted
// on this process's own clock; times in the Lease are not looked at.
type Failures struct {
	cs      kubernetes.Interface
	ns      string
	silence time.Duration

	mu    sync.Mutex
	peers map[string]seen
}

func New(cs kubernetes.Interface, ns string, silence time.Duration) *Failures {
	return &Failures{cs: cs, ns: ns, silence: silence, peers: make(map[string]seen)}
}

func (f *Failures) observe(name, version string) seen {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, ok := f.peers[name]
	if !ok || s.version != version {
		s = seen{version: version, at: time.Now()}
		f.peers[name] = s
	}
	return s
}

// Suspects polls once.
func (f *Failures) Suspects(ctx context.Context) ([]string, error) {
	ls, err := f.cs.CoordinationV1().Leases(f.ns).List(ctx, metav1.ListOptions{LabelSelector: "example.com/member"})
	if err != nil {
		return nil, fmt.Errorf("list leases: %w", err)
	}
	var out []string
	for i := range ls.Items {
		l := &ls.Items[i]
		s := f.observe(l.Name, l.ResourceVersion)
		if time.Since(s.at) > f.silence {
			out = append(out, l.Name)
		}
	}
	return out, nil
}
