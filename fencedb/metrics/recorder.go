package metrics

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/fencelint/fence/fencedb"
)

// A Sink takes measurements. Values are those of the metric's labels, in its order; they are
// valid UTF-8, and the Sink must not keep the slice. By is whose measurement it is, for an
// exemplar. Any number of goroutines call it, often within a transaction: it has to return
// at once and must not panic.
type Sink interface {
	// Add adds to a counter: 0 to have it there before it counts.
	Add(ctx context.Context, id ID, by By, v float64, values ...string)
	// Observe puts a value into a histogram.
	Observe(ctx context.Context, id ID, by By, v float64, values ...string)
}

// By is the token and the grant id of a measurement; the zero By says that there is none.
type By struct {
	Token int64
	Grant string
}

// An Option changes a [Recorder].
type Option func(*Recorder)

// LeaseClass says which value of the label lease_class a resource has, such as "daily" for
// each of "orders:daily" and "bills:daily". Class is called for every grant and every request
// for one, by any number of goroutines; it may return "" for none. Without the option none
// has one.
func LeaseClass(class func(resource string) string) Option {
	return func(r *Recorder) {
		if class != nil {
			r.class = class
		}
	}
}

// A Recorder turns receipts into measurements. Counters and histograms go to its [Sink];
// gauges are asked for ([Recorder.Gauges]). Any number of goroutines may use one, for any
// number of coordinators, guards and writers.
type Recorder struct {
	sink   Sink
	class  func(resource string) string
	labels labels

	mu           sync.Mutex
	kinds        map[kind]bool // every kind of lease that was asked for
	leases       map[*fencedb.Lease]*lease
	incarnations map[string]int // by namespace, the latest
	suspended    time.Duration  // of this process, as far as receipts tell
}

// A kind is what the gauges of leases are labelled with.
type kind struct{ namespace, class string }

// A lease is one that is held, or that is over while its work is running.
type lease struct {
	kind      kind
	window    time.Duration // what was left after the last grant or renewal
	overrun   bool          // it is over
	suspended time.Duration // of the process, as this lease has seen it
}

// New returns a Recorder that counts into sink.
func New(sink Sink, opts ...Option) *Recorder {
	r := &Recorder{
		sink:         sink,
		class:        func(string) string { return "" },
		kinds:        map[kind]bool{},
		leases:       map[*fencedb.Lease]*lease{},
		incarnations: map[string]int{},
	}
	for _, o := range opts {
		o(r)
	}
	r.startAtZero(context.Background(), "", "")
	return r
}

// Observer returns the functions that feed r. Give it to everything that takes a
// [fencedb.Observer]: a lease that one of them grants is counted until its End arrives.
func (r *Recorder) Observer() *fencedb.Observer {
	return &fencedb.Observer{
		Decision: r.decision, Attempt: r.attempt, Grant: r.grant,
		Renew: r.renew, Uncertain: r.uncertain, End: r.end,
	}
}

// Gauges gives the present value of every gauge to emit, once for each set of labels. It
// reads the deadline of each lease that is held.
func (r *Recorder) Gauges(emit func(id ID, v float64, values ...string)) {
	kinds, leases, incarnations := r.snapshot()
	counted, valid := count(kinds, leases)
	for k, n := range counted {
		emit(LeaseHeld, n.held, k.namespace, k.class)
		emit(LeaseUncertain, n.uncertain, k.namespace, k.class)
		emit(LeaseOverrunning, n.overrunning, k.namespace, k.class)
	}
	for ns, v := range valid {
		emit(ValidityRemaining, v.remaining.Seconds(), ns)
		emit(ValidityRatio, v.ratio, ns)
	}
	for ns, n := range incarnations {
		emit(StoreIncarnation, 1, ns, strconv.Itoa(n))
	}
}

// A copied lease is one as it was when the snapshot was taken.
type copied struct {
	*fencedb.Lease
	lease
}

func (r *Recorder) snapshot() (kinds []kind, leases []copied, incarnations map[string]int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	leases = make([]copied, 0, len(r.leases))
	for l, state := range r.leases {
		leases = append(leases, copied{l, *state})
	}
	return slices.Collect(maps.Keys(r.kinds)), leases, maps.Clone(r.incarnations)
}

type counts struct{ held, uncertain, overrunning float64 }

type validity struct {
	remaining time.Duration
	ratio     float64
}

// count counts the leases of each kind, 0 for one of which there is none now, and finds the
// smallest validities of each namespace. A lease that is being released has no time left,
// and so has one whose work is told to stop: neither says anything about renewals.
func count(kinds []kind, leases []copied) (map[kind]counts, map[string]validity) {
	counted, valid := make(map[kind]counts, len(kinds)), map[string]validity{}
	for _, k := range kinds {
		counted[k] = counts{}
	}
	for _, l := range leases {
		n := counted[l.kind]
		switch {
		case l.overrun:
			n.overrunning++
		case l.Uncertain():
			n.uncertain++
			fallthrough
		default:
			n.held++
		}
		counted[l.kind] = n
		left := l.Remaining()
		if left <= 0 || l.window <= 0 {
			continue
		}
		v, seen := valid[l.kind.namespace]
		if !seen {
			v = validity{left, 1}
		}
		v.remaining = min(v.remaining, left)
		v.ratio = min(v.ratio, left.Seconds()/l.window.Seconds())
		valid[l.kind.namespace] = v
	}
	return counted, valid
}
