// Package journal has what a run leaves behind: what its workers told of themselves, the
// faults they had, and what the store kept.
package journal

import "time"

// An Instant is a time of CLOCK_BOOTTIME, in nanoseconds. All processes of one machine share
// that clock, so instants of different processes have an order. Zero is no instant.
type Instant int64

// Add returns the instant d later.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d) }

// A Kind says what an event is, and which of its fields it has.
type Kind string

// The events of a worker. All have At, Worker and Resource.
const (
	// Asked is a request for a grant that was granted, or of which that is not known. It was
	// sent at or after Sent and answered at or before At. Grant; Token, or Result.
	Asked Kind = "asked"
	// Started is work that begins. Token, Grant; From and Until, both zero if the lease was
	// not valid; Before, Waited if the grant before has expired.
	Started Kind = "started"
	// Renewed is a deadline that was moved on. Token, Until.
	Renewed Kind = "renewed"
	// Refused is a renewal that was refused at or before At. Token, Result.
	Refused Kind = "refused"
	// Invalid is the first time that Valid was seen to be false, at or after At. Token; From,
	// the last time that it was seen to be true: at or after that.
	Invalid Kind = "invalid"
	// Returned is work that is about to return. Token.
	Returned Kind = "returned"
	// Wrote is an answer to a write. Token, N, Result; Late if the work's context had ended.
	Wrote Kind = "wrote"
	// Failed is an error that no fault explains. Result.
	Failed Kind = "failed"
)

// An Event is what a worker tells, a line of JSON.
type Event struct {
	Kind     Kind          `json:"kind"`
	At       Instant       `json:"at"`
	Worker   string        `json:"worker"` // of one process: unique in a run
	Resource string        `json:"resource"`
	Token    int64         `json:"token,omitzero"`
	Grant    string        `json:"grant,omitzero"`
	Sent     Instant       `json:"sent,omitzero"`
	From     Instant       `json:"from,omitzero"`   // certainly valid from then on
	Until    Instant       `json:"until,omitzero"`  // certainly valid until then unless it is ended
	Before   int64         `json:"before,omitzero"` // the token of the grant before, if that has expired
	Waited   time.Duration `json:"waited,omitzero"` // from that expiry by the store to the start of the work
	N        int64         `json:"n,omitzero"`      // of the write, unique in the process
	Late     bool          `json:"late,omitzero"`
	Result   string        `json:"result,omitzero"` // a fencedb.Result of a write, otherwise a text
}

// A Row is what the store kept: a write, or a raise of the guard.
type Row struct {
	Seq       int64  // in which order they came
	Raise     bool   // a raise of the guard to Token, rather than a write
	Resource  string //
	Token     int64  //
	Grant     string // of a raise
	Worker    string // of a write
	N         int64  // of a write
	Seen      int64  // of a raise: how many writes of lower tokens were there, -1 if nobody counted
	Committed int64  // when, in microseconds by the store's clock; 0 if it does not tell
}

// A Fault is what was done to a worker, or to the store.
type Fault struct {
	Kind   string
	Worker string // the process; empty for the store
	From   Instant
	Until  Instant
}

// A Run is all that is known of one run on one store.
type Run struct {
	Events []Event // those of one worker in their order
	Rows   []Row
	Faults []Fault
}
