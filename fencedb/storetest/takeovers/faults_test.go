//go:build linux

package takeovers

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/fencelint/fence/fencedb/storetest/takeovers/judge"
	"github.com/fencelint/fence/fencedb/storetest/takeovers/proxy"
)

// A fault is something that is done to a worker, or to the store.
type fault struct {
	kind        string
	weight      int     // how often it is in a deck
	least, most float64 // how long it lasts, in TTLs
	network     bool    // it is one of the network
	lines       func(delay time.Duration) [2]proxy.Line
}

// The faults that are none of the network.
const (
	kill = "kill" // and another process in its place
	cut  = "cut"  // connections are reset, and refused for a while
	down = "store down"
)

// faults are all there are.
var faults = []fault{
	{kind: judge.Stop, weight: 4, least: 1.2, most: 3},
	{kind: kill, weight: 3, least: 0, most: 1.5},
	{kind: down, weight: 1, least: 0.5, most: 2},
	{kind: cut, weight: 1, least: 0.2, most: 2, network: true},
	{kind: "slow", weight: 1, least: 1, most: 3, network: true, lines: func(d time.Duration) [2]proxy.Line { return [2]proxy.Line{{Delay: d / 8}, {Delay: d / 8}} }},
	{kind: "late requests", weight: 1, least: 1.5, most: 3, network: true, lines: func(d time.Duration) [2]proxy.Line { return [2]proxy.Line{proxy.Up: {Delay: d}} }},
	{kind: "late answers", weight: 1, least: 1.5, most: 3, network: true, lines: func(d time.Duration) [2]proxy.Line { return [2]proxy.Line{proxy.Down: {Delay: d}} }},
	{kind: "requests dropped", weight: 1, least: 1.2, most: 3, network: true, lines: func(time.Duration) [2]proxy.Line { return [2]proxy.Line{proxy.Up: {Hold: true}} }},
	{kind: "answers dropped", weight: 1, least: 1.2, most: 3, network: true, lines: func(time.Duration) [2]proxy.Line { return [2]proxy.Line{proxy.Down: {Hold: true}} }},
	{kind: "all dropped", weight: 1, least: 1.2, most: 3, network: true, lines: func(time.Duration) [2]proxy.Line { return [2]proxy.Line{{Hold: true}, {Hold: true}} }},
}

// A planned fault is one of a schedule.
type planned struct {
	fault
	after  time.Duration // the one before
	victim int           // the worker that it is meant for; the next one if that has another fault
	lasts  time.Duration
	delay  time.Duration // of the network
	lost   bool          // what was held is lost in the end, rather than late
}

// A schedule draws faults. The same seed gives the same ones.
type schedule struct {
	random  *rand.Rand
	ttl     time.Duration
	workers int
	all     []fault // a deck
	deck    []fault // what is left of it
}

func newSchedule(seed uint64, name string, ttl time.Duration, workers int, network bool) *schedule {
	var stream uint64
	for _, b := range []byte(name) {
		stream = stream*31 + uint64(b)
	}
	s := &schedule{random: rand.New(rand.NewPCG(seed, stream)), ttl: ttl, workers: workers}
	for _, f := range faults {
		if network || !f.network {
			s.all = append(s.all, slices.Repeat([]fault{f}, f.weight)...)
		}
	}
	return s
}

// next draws the next fault. Each kind comes before any deck is through.
func (s *schedule) next() planned {
	if len(s.deck) == 0 {
		s.deck = slices.Clone(s.all)
		s.random.Shuffle(len(s.deck), func(i, j int) { s.deck[i], s.deck[j] = s.deck[j], s.deck[i] })
	}
	p := planned{fault: s.deck[0]}
	s.deck = s.deck[1:]
	p.after = s.between(0.1, 0.6)
	p.victim = s.random.IntN(s.workers)
	p.lasts = s.between(p.least, p.most)
	p.delay = s.between(0.2, 1.3)
	p.lost = s.random.IntN(2) == 0
	return p
}

// between draws a time from so many TTLs to so many.
func (s *schedule) between(least, most float64) time.Duration {
	return time.Duration((least + (most-least)*s.random.Float64()) * float64(s.ttl))
}
