package sqllease

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fencelint/fence/fencedb"
)

// A Recorder keeps rejected writes in the table fence_rejections: decisions that are stale,
// conflict or not_granted. It never keeps a write waiting: observers are often called within a
// transaction, for which on SQLite a second writer would wait for ever. So a goroutine writes
// them afterwards, and what does not fit into its queue is dropped and counted.
//
// Any number of goroutines may use one. It has to be closed.
type Recorder struct {
	coordinator *Coordinator
	build       string

	mu     sync.RWMutex // held for writing to close the queue
	closed bool
	queue  chan fencedb.Decision

	done    chan struct{} // the goroutine has ended
	ctx     context.Context
	cancel  context.CancelFunc
	dropped atomic.Int64
	failure atomic.Pointer[error]
}

// A RecorderOption changes what [NewRecorder] makes.
type RecorderOption func(*recorderConfig)

type recorderConfig struct {
	queue int
	build string
}

// Queue is how many rejections may wait to be written: 1024 without it. A number that is not
// positive counts as 1.
func Queue(n int) RecorderOption { return func(c *recorderConfig) { c.queue = max(1, n) } }

// Build names the version of this program in the rows, so that they tell who still runs old
// code: without it the main module's version, or its revision, if the binary has it.
func Build(version string) RecorderOption { return func(c *recorderConfig) { c.build = version } }

// RejectionVersion is the version of what a row of fence_rejections means.
const RejectionVersion = 1

// writeTimeout bounds one write of a rejection.
const writeTimeout = 5 * time.Second

// NewRecorder returns a Recorder that writes to the tables of c. Its goroutine runs until
// [Recorder.Close].
func NewRecorder(c *Coordinator, opts ...RecorderOption) *Recorder {
	config := recorderConfig{queue: 1024, build: buildVersion()}
	for _, o := range opts {
		o(&config)
	}
	r := &Recorder{coordinator: c, build: fit(config.build, 255), queue: make(chan fencedb.Decision, config.queue), done: make(chan struct{})}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	go r.run()
	return r
}

// buildVersion is what the binary knows of itself.
func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}

// Observer returns an observer that tells the Recorder of decisions, for
// [fencedb.ObservedBy] and for generated writers.
func (r *Recorder) Observer() *fencedb.Observer {
	return &fencedb.Observer{Decision: func(_ context.Context, d fencedb.Decision) { r.record(d) }}
}

func (r *Recorder) record(d fencedb.Decision) {
	switch d.Result {
	case fencedb.Stale, fencedb.Conflict, fencedb.NotGranted:
	default:
		return
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.closed {
		r.dropped.Add(1)
		return
	}
	select {
	case r.queue <- d:
	default:
		r.dropped.Add(1)
	}
}

// run writes what is queued, until the queue is closed and empty.
func (r *Recorder) run() {
	defer close(r.done)
	for d := range r.queue {
		if err := r.write(d); err != nil {
			r.dropped.Add(1)
			r.failure.Store(&err)
		}
	}
}

func (r *Recorder) write(d fencedb.Decision) error {
	ctx, cancel := context.WithTimeout(r.ctx, writeTimeout)
	defer cancel()
	args := []any{int64(RejectionVersion), fit(d.Resource, fencedb.MaxResource), fit(d.Operation, 64), fit(d.Table, 255), fit(d.Key, 1024),
		d.Presented, fit(d.Grant, fencedb.MaxGrant), d.Current, string(d.Result), r.build}
	_, err := inBackground(ctx, r.coordinator, "recording a rejection of "+d.Resource, func(ctx context.Context, s *session) (struct{}, error) {
		s.sent = true
		_, err := s.exec(ctx, s.conn, s.reject, args...)
		return struct{}{}, err
	})
	return err
}

// fit makes a text one that every database keeps: UTF-8 without NUL, of at most that many bytes.
func fit(s string, most int) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "")
}

// Dropped returns how many rejections were not written: the queue was full, the database
// failed, or the Recorder was closed.
func (r *Recorder) Dropped() int64 { return r.dropped.Load() }

// Err returns why the last rejection that the database failed to take was not written, nil if
// that never happened.
func (r *Recorder) Err() error {
	if err := r.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// Close writes what is queued and ends the goroutine. If ctx ends before that the rest is
// dropped, which is an error. It may be called again.
func (r *Recorder) Close(ctx context.Context) error {
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		close(r.queue)
	}
	r.mu.Unlock()
	select {
	case <-r.done:
		r.cancel()
		return nil
	case <-ctx.Done():
	}
	r.cancel() // each write that is left fails at once
	<-r.done
	return fmt.Errorf("sqllease: closing a recorder: %d rejections were dropped: %w", r.Dropped(), ctx.Err())
}
