//go:build linux

package takeovers

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/storetest/takeovers/journal"
	"github.com/fencelint/fence/fencedb/storetest/takeovers/judge"
	"github.com/fencelint/fence/fencedb/storetest/takeovers/proxy"
	"github.com/fencelint/fence/fencedb/storetest/takeovers/worker"
)

const (
	workers   = 4
	resources = 8
	atOnce    = 2 // faults of workers: the others take over
)

// A game is a run that is wanted.
type game struct {
	store  store
	seed   uint64 // of the faults, and of what the workers do
	wanted int    // takeovers
	vain   bool   // it may end before a holder was stopped and a stale write was rejected
	limit  time.Duration
	change func(*worker.Config) // makes workers other ones; nil if they are not to be
}

// rates are those of the workers' clocks: as wrong as fencedb.DefaultDrift allows, which is
// what leases have to bear.
var rates = [workers]float64{1 - fencedb.DefaultDrift, 1, 1 + fencedb.DefaultDrift, 1}

// A run has workers on a store, and faults, until it has seen enough takeovers.
type run struct {
	game
	t     *testing.T
	clock worker.Clock
	on    *running
	slots [workers]*slot

	mu        sync.Mutex
	journal   journal.Run
	takeovers int
	stale     int            // writes that were rejected
	holds     map[string]int // leases of each process
	stopped   int            // of processes that were stopped
}

// A slot has one worker's process after the other, and the network between them and the store.
type slot struct {
	run     *run
	n       int
	busy    sync.Mutex // held during a fault
	proxies []*proxy.Proxy

	generation int
	name       string
	cmd        *exec.Cmd
	stderr     *bytes.Buffer
	over       chan struct{} // closed when the process has ended
	result     error         // then
}

// play runs until there were enough takeovers, and each fault, or the time is over.
func play(t *testing.T, g game, on *running) journal.Run {
	r := &run{game: g, t: t, clock: worker.NewClock(), on: on, holds: make(map[string]int)}
	for i := range r.slots {
		r.slots[i] = &slot{run: r, n: i}
		for _, target := range on.targets {
			p, err := proxy.Listen(target)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := p.Close(); err != nil {
					t.Error(err)
				}
			})
			r.slots[i].proxies = append(r.slots[i].proxies, p)
		}
		if err := r.slots[i].start(); err != nil {
			t.Fatal(err)
		}
	}
	r.faults()
	for _, slot := range r.slots {
		if err := slot.finish(); err != nil {
			t.Error(err)
		}
	}
	rows, err := on.rows(t.Context())
	if err != nil {
		t.Fatalf("reading what the store kept: %v", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.journal.Rows = rows
	return r.journal
}

// faults has faults until the end.
func (r *run) faults() {
	plan := newSchedule(r.seed, r.store.name, r.store.ttl, workers, len(r.on.targets) > 0)
	ends := time.Now().Add(r.limit)
	var under sync.WaitGroup
	defer under.Wait()
	room := make(chan struct{}, atOnce)
	time.Sleep(r.store.ttl) // the workers begin
	for n := 0; n < len(plan.all) || !r.enough(); n++ {
		if time.Now().After(ends) {
			r.t.Errorf("there were not enough takeovers in %v", r.limit) // the figures say how many
			return
		}
		p := plan.next()
		time.Sleep(p.after)
		if p.kind == down {
			under.Wait() // its own faults are those of all
			r.fault(p.kind, "", func() error { return r.on.down(r.t.Context(), n, p.lasts) })
			continue
		}
		room <- struct{}{}
		victim := r.free(p.victim)
		under.Go(func() {
			victim.suffer(p)
			victim.busy.Unlock()
			<-room
		})
	}
}

// free returns the first slot from n on that has no fault, locked.
func (r *run) free(n int) *slot {
	for ; ; n++ {
		if s := r.slots[n%workers]; s.busy.TryLock() {
			return s
		}
	}
}

// enough tells whether a run has seen what it is for.
func (r *run) enough() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.takeovers >= r.wanted && (r.vain || r.stale > 0 && r.stopped > 0)
}

// fault does something and notes how long it took.
func (r *run) fault(kind, name string, do func() error) {
	f := journal.Fault{Kind: kind, Worker: name, From: r.clock.Now()}
	if err := do(); err != nil {
		r.t.Errorf("%s of %s: %v", kind, name, err)
	}
	f.Until = r.clock.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.journal.Faults = append(r.journal.Faults, f)
}

// suffer has a fault happen to the worker.
func (s *slot) suffer(p planned) {
	switch p.kind {
	case judge.Stop:
		if err := s.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			s.run.t.Error(err)
		}
		s.run.mu.Lock()
		s.run.stopped += s.run.holds[s.name]
		s.run.mu.Unlock()
		s.run.fault(p.kind, s.name, func() error { time.Sleep(p.lasts); return nil })
		if err := s.cmd.Process.Signal(syscall.SIGCONT); err != nil {
			s.run.t.Error(err)
		}
	case kill:
		s.run.fault(p.kind, s.name, func() error {
			err := s.cmd.Process.Kill()
			<-s.over
			time.Sleep(p.lasts)
			return errors.Join(err, s.start())
		})
	case cut:
		s.run.fault(p.kind, s.name, func() error {
			s.each(func(p *proxy.Proxy) { p.Refuse(true); p.Cut() })
			time.Sleep(p.lasts)
			s.each(func(p *proxy.Proxy) { p.Refuse(false) })
			return nil
		})
	default:
		s.run.fault(p.kind, s.name, func() error {
			s.lines(p.lines(p.delay))
			time.Sleep(p.lasts)
			if p.lost {
				s.each((*proxy.Proxy).Cut)
			}
			s.lines([2]proxy.Line{})
			return nil
		})
	}
}

func (s *slot) each(do func(*proxy.Proxy)) {
	for _, p := range s.proxies {
		do(p)
	}
}

func (s *slot) lines(l [2]proxy.Line) {
	s.each(func(p *proxy.Proxy) { p.Set(proxy.Up, l[proxy.Up]); p.Set(proxy.Down, l[proxy.Down]) })
}

// start starts the next process of a slot.
func (s *slot) start() error {
	s.generation++
	s.name = fmt.Sprintf("w%d.%d", s.n, s.generation)
	c := worker.Config{Name: s.name, Store: s.run.store.name, TTL: s.run.store.ttl, Apart: s.n%2 == 1, Rate: rates[s.n], Seed: s.run.seed + uint64(s.n+workers*s.generation)}
	if s.run.change != nil {
		s.run.change(&c)
	}
	var addrs []string
	s.each(func(p *proxy.Proxy) { addrs = append(addrs, p.Addr()) })
	c.Sources = s.run.on.sources(addrs)
	for i := range resources {
		c.Resources = append(c.Resources, fmt.Sprintf("r%d", i))
	}
	config, err := json.Marshal(c)
	if err != nil {
		return err
	}
	s.stderr = new(bytes.Buffer)
	s.cmd = exec.Command(os.Args[0])
	s.cmd.Env = append(os.Environ(), workerRole+"="+string(config))
	s.cmd.Stderr = s.stderr
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	cmd, over := s.cmd, make(chan struct{})
	s.over = over
	go func() {
		defer close(over)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			s.run.read(lines.Bytes())
		}
		err := cmd.Wait()
		if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() && status.Signal() == syscall.SIGTERM {
			err = nil // it was told to end before it had begun to listen for that
		}
		s.result = errors.Join(lines.Err(), err)
	}()
	return nil
}

// read takes in a line of a worker.
func (r *run) read(line []byte) {
	var e journal.Event
	if err := json.Unmarshal(line, &e); err != nil {
		r.t.Errorf("a worker said %q: %v", line, err)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.journal.Events = append(r.journal.Events, e)
	switch {
	case e.Kind == journal.Started:
		if e.From != 0 {
			r.holds[e.Worker]++
		}
		if e.Before != 0 {
			r.takeovers++
		}
	case e.Kind == journal.Invalid && e.From != 0:
		r.holds[e.Worker]--
	case e.Kind == journal.Wrote && e.Result == string(fencedb.Stale):
		r.stale++
	}
}

// finish has the process end by itself. One that does not is stuck.
func (s *slot) finish() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("%s has ended by itself: %w: %s", s.name, errors.Join(err, s.result), s.stderr)
	}
	select {
	case <-s.over:
	case <-time.After(30 * time.Second):
		err := s.cmd.Process.Signal(syscall.SIGQUIT) // its goroutines
		<-s.over
		return fmt.Errorf("%s did not end: %w: %s", s.name, errors.Join(err, s.result), s.stderr)
	}
	if s.result != nil {
		return fmt.Errorf("%s: %w: %s", s.name, s.result, s.stderr)
	}
	return nil
}
