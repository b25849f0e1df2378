package hn28

import (
	"sync"
	"time"
)

// Connections are leased from a pool inside one process: expiry on the
// monotonic clock, owner is a goroutine name for debugging.
type conn struct {
	owner   string
	leased  time.Time
	expires time.Time
	release func()
}

type Pool struct {
	lock  sync.RWMutex
	conns map[int]*conn
	max   time.Duration
}

func (p *Pool) Lease(id int, owner string, release func()) bool {
	p.lock.Lock()
	defer p.lock.Unlock()
	if c, ok := p.conns[id]; ok && c.owner != owner && time.Now().Before(c.expires) {
		return false
	}
	now := time.Now()
	p.conns[id] = &conn{owner: owner, leased: now, expires: now.Add(p.max), release: release}
	return true
}

func (p *Pool) Sweep() (n int) {
	p.lock.Lock()
	defer p.lock.Unlock()
	for id, c := range p.conns {
		if time.Since(c.leased) > p.max {
			c.release()
			delete(p.conns, id)
			n++
		}
	}
	return n
}
