package protocol

import (
	"fmt"
	"strconv"
	"strings"
)

// The ranges of a token's parts: an incarnation above a counter, in a signed 64-bit number.
const (
	MaxIncarnation = 1<<15 - 1
	MaxCounter     = 1<<48 - 1
	counterBits    = 48
)

// An Allocator is the counter of a namespace. Tokens come from it in the transaction of the
// grant, after the lease is locked, and it is never deleted: not when leases are.
type Allocator struct {
	Incarnation int    // how often the counter was started anew, from 0 to MaxIncarnation
	Counter     int64  // of the last token, from 0 to MaxCounter
	Place       string // where the store lives, see [Allocator.Next]; empty if unknown
}

// Value returns the last token that was drawn, 0 if none was in incarnation 0.
func (a Allocator) Value() int64 { return int64(a.Incarnation)<<counterBits | a.Counter }

// Next draws a token at place, which is larger than every one drawn before and larger than
// floor. At another place than the last one, if both are known, the store has failed over
// or was restored, and may have lost the newest of its counts: a new incarnation begins.
//
// A place is the identity of a system, and, where the system numbers its histories, a slash
// and the number in hexadecimal: PostgreSQL's system identifier and timeline. A timeline
// that is n further on begins the n-th incarnation from here: the store that was in between
// may have begun one that this store never saw.
func (a Allocator) Next(place string, floor int64) (Allocator, int64, error) {
	next := a
	next.Incarnation += moves(a.Place, place)
	if place != "" {
		next.Place = place
	}
	// Before the value is computed: one incarnation more than there are makes it negative.
	if next.Incarnation <= MaxIncarnation && floor > next.Value() {
		next.Incarnation, next.Counter = int(floor>>counterBits), floor&MaxCounter
	}
	if next.Counter >= MaxCounter {
		next.Incarnation, next.Counter = next.Incarnation+1, 0
	}
	next.Counter++
	if next.Incarnation > MaxIncarnation {
		return a, 0, fmt.Errorf("the %d incarnations of a namespace are used up", MaxIncarnation+1)
	}
	return next, next.Value(), nil
}

// moves returns how many incarnations lie between two places.
func moves(from, to string) int {
	if from == "" || to == "" || from == to {
		return 0
	}
	system, was, numbered := history(from)
	other, is, alsoNumbered := history(to)
	if numbered && alsoNumbered && system == other && is > was {
		return int(min(is-was, MaxIncarnation+1))
	}
	return 1
}

func history(place string) (system string, number uint64, ok bool) {
	i := strings.LastIndexByte(place, '/')
	if i < 0 {
		return place, 0, false
	}
	number, err := strconv.ParseUint(place[i+1:], 16, 32)
	return place[:i], number, err == nil
}

// Anew starts the next incarnation, for a counter that may have been set back: after it, a
// token is larger than any of an earlier incarnation, however far that one had come.
func (a Allocator) Anew() (Allocator, error) {
	if a.Incarnation >= MaxIncarnation {
		return a, fmt.Errorf("the %d incarnations of a namespace are used up", MaxIncarnation+1)
	}
	a.Incarnation++
	return a, nil
}

// A Watermark is the largest token that a process has seen of a namespace. A grant that is
// not above it says that the coordinator has forgotten some.
type Watermark int64

// See takes a token in. Regressed says that it is not above what was seen before, as every
// new one has to be.
func (w Watermark) See(value int64) (next Watermark, regressed bool) {
	if value <= int64(w) {
		return w, true
	}
	return Watermark(value), false
}
