// Package proxy is a network that can be slow, lose what it carries, or break, in each
// direction by itself: a TCP proxy on 127.0.0.1.
package proxy

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// A Direction is one of the two that bytes go.
type Direction int

// The directions.
const (
	Up         Direction = iota // from the client to the server
	Down                        // from the server to the client
	directions                  // how many there are
)

// A Line is how one direction carries bytes. The zero Line carries them at once.
type Line struct {
	Delay time.Duration // from when a byte came in
	Hold  bool          // nothing is carried; what came in waits until that is over
}

// A Proxy carries connections to a server. It has to be closed. Any number of goroutines may
// use one.
type Proxy struct {
	target   string
	listener net.Listener
	running  sync.WaitGroup

	mu      sync.Mutex
	lines   [directions]Line
	changed chan struct{} // closed when lines change
	refuse  bool
	closed  bool
	open    map[*link]struct{}
}

// A link is one client's connection and ours to the server.
type link struct {
	client, server *net.TCPConn
	once           sync.Once
	broken         chan struct{}
}

// Listen returns a proxy to the server at target, a host and port, on a free port.
func Listen(target string) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("proxy: listening for %s: %w", target, err)
	}
	p := &Proxy{target: target, listener: listener, changed: make(chan struct{}), open: make(map[*link]struct{})}
	p.running.Go(p.accept)
	return p, nil
}

// Addr returns host and port where clients connect.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Set changes how a direction carries bytes, also those that wait.
func (p *Proxy) Set(d Direction, l Line) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines[d] = l
	close(p.changed)
	p.changed = make(chan struct{})
}

// Refuse has new connections reset, or carried again.
func (p *Proxy) Refuse(refuse bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse = refuse
}

// Cut resets every connection. What waits is lost.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.open {
		l.reset()
	}
}

// Close ends all connections and waits for the goroutines.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	err := p.listener.Close()
	p.Cut()
	p.running.Wait()
	return err
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue // a connection that was over before it was accepted
		}
		p.running.Go(func() { p.carry(client.(*net.TCPConn)) })
	}
}

// carry carries one connection to its end.
func (p *Proxy) carry(client *net.TCPConn) {
	server, err := net.DialTimeout("tcp", p.target, 5*time.Second)
	if err != nil {
		reset(client)
		return
	}
	l := &link{client: client, server: server.(*net.TCPConn), broken: make(chan struct{})}
	if !p.enter(l) {
		l.reset()
		return
	}
	var both sync.WaitGroup
	both.Go(func() { p.pump(l, Up, l.client, l.server) })
	both.Go(func() { p.pump(l, Down, l.server, l.client) })
	both.Wait()
	p.leave(l)
	l.reset()
}

func (p *Proxy) enter(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refuse || p.closed {
		return false
	}
	p.open[l] = struct{}{}
	return true
}

func (p *Proxy) leave(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, l)
}

// A chunk is some bytes and when they came in.
type chunk struct {
	at   time.Time
	data []byte
}

// pump carries one direction of a connection until its end has been carried, too.
func (p *Proxy) pump(l *link, d Direction, from, to *net.TCPConn) {
	chunks := make(chan chunk, 256)
	p.running.Go(func() {
		defer close(chunks)
		for {
			data := make([]byte, 16<<10)
			n, err := from.Read(data)
			if n > 0 {
				select {
				case chunks <- chunk{time.Now(), data[:n]}:
				case <-l.broken:
					return
				}
			}
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				l.reset()
				return
			}
		}
	})
	for c := range chunks {
		if !p.await(l, d, c.at) {
			return
		}
		if _, err := to.Write(c.data); err != nil {
			l.reset()
			return
		}
	}
	if p.await(l, d, time.Now()) {
		_ = to.CloseWrite() // the other side may have closed it
	}
}

// await waits until what came in at a time is to be carried, and tells whether there is still
// a connection.
func (p *Proxy) await(l *link, d Direction, at time.Time) bool {
	for {
		p.mu.Lock()
		line, changed := p.lines[d], p.changed
		p.mu.Unlock()
		wait := time.Until(at.Add(line.Delay))
		if !line.Hold && wait <= 0 {
			select {
			case <-l.broken:
				return false
			default:
				return true
			}
		}
		var due <-chan time.Time
		if !line.Hold {
			due = time.After(wait)
		}
		select {
		case <-due:
		case <-changed:
		case <-l.broken:
			return false
		}
	}
}

// reset breaks both connections.
func (l *link) reset() {
	l.once.Do(func() {
		close(l.broken)
		reset(l.client)
		reset(l.server)
	})
}

// reset closes a connection without its farewell.
func reset(c *net.TCPConn) {
	_ = c.SetLinger(0) // fails, as Close does, on a connection that is closed: which is all that is wanted
	_ = c.Close()
}
