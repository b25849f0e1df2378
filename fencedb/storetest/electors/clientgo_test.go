package electors

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

// leaderElection are candidates by client-go's leaderelection with the defaults of Kubernetes'
// own components, whose record is in memory.
type leaderElection struct {
	request time.Duration // how long one request may take; not limited if it is 0
}

func (l leaderElection) open(*testing.T) func() campaign {
	return func() campaign {
		record := &record{}
		return func(ctx context.Context, id string, n *network, elected func(term)) error {
			var elector *leaderelection.LeaderElector
			elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
				Lock:          &recordLock{record: record, id: id, network: n, request: l.request},
				LeaseDuration: 15 * time.Second,
				RenewDeadline: 10 * time.Second,
				RetryPeriod:   2 * time.Second,
				Callbacks: leaderelection.LeaderCallbacks{
					OnStartedLeading: func(ctx context.Context) {
						elected(term{over: ctx.Done(), believes: func() bool { return ctx.Err() == nil && elector.IsLeader() }})
					},
					OnStoppedLeading: func() {},
				},
			})
			if err != nil {
				return err
			}
			elector.Run(klog.NewContext(ctx, klog.Logger{})) // the zero Logger writes nothing
			return context.Cause(ctx)
		}
	}
}

// A record is what the API server keeps of an election.
type record struct {
	mu      sync.Mutex
	version int // 0: there is none
	value   resourcelock.LeaderElectionRecord
}

var leases = schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}

// A recordLock is one candidate's view of a record, as resourcelock.LeaseLock is of a Lease: it
// replaces the version that it saw last, or fails.
type recordLock struct {
	*record
	id      string
	network *network
	request time.Duration
	seen    int
}

func (l *recordLock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	var value resourcelock.LeaderElectionRecord
	err := l.send(ctx, false, func() (int, error) {
		if l.version == 0 {
			return 0, apierrors.NewNotFound(leases, l.Describe())
		}
		value = l.value
		return l.version, nil
	})
	if err != nil {
		return nil, nil, err
	}
	raw, err := json.Marshal(value)
	return &value, raw, err
}

func (l *recordLock) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return l.send(ctx, false, func() (int, error) {
		if l.version != 0 {
			return 0, apierrors.NewAlreadyExists(leases, l.Describe())
		}
		l.version, l.value = 1, r
		return l.version, nil
	})
}

func (l *recordLock) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	seen := l.seen
	return l.send(ctx, true, func() (int, error) {
		if l.version != seen {
			return 0, apierrors.NewConflict(leases, l.Describe(), nil)
		}
		l.version, l.value = l.version+1, r
		return l.version, nil
	})
}

// send has do carried out, which returns the version of its answer.
func (l *recordLock) send(ctx context.Context, renewal bool, do func() (int, error)) error {
	if l.request > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, l.request)
		defer cancel()
	}
	lost, late := l.network.send(renewal)
	if lost {
		<-ctx.Done()
		return ctx.Err()
	}
	time.Sleep(latency)
	l.mu.Lock()
	version, err := do()
	l.mu.Unlock()
	if late := wait(ctx, latency+late); late != nil {
		return late
	}
	if err == nil {
		l.seen = version
	}
	return err
}

func (l *recordLock) RecordEvent(string) {}

func (l *recordLock) Identity() string { return l.id }

func (l *recordLock) Describe() string { return "orders-daily" }
